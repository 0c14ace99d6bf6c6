// SPDX-License-Identifier: GPL-2.0
/* What kilocore's algorithms need of the kernel: linux/object/src/kernel.rs, memory.rs and rwsem.rs declare it. */
#include <linux/bug.h>
#include <linux/i_mmap_ldu.h>
#include <linux/init.h>
#include <linux/kilocore.h>
#include <linux/kprobes.h>
#include <linux/log2.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include <asm/cpufeature.h>
#include <asm/cpuid.h>
#include <asm/mwait.h>
#include <asm/processor.h>

u32 kilocore_cpu(void);
u32 kilocore_node(void);
unsigned long kilocore_current(void);
void kilocore_cpu_relax(void);
void kilocore_rests(void);
bool kilocore_watch(const void *line);
void kilocore_rest(void);
void kilocore_preempt_disable(void);
void kilocore_preempt_enable(void);
void __noreturn kilocore_bug(void);
void *kilocore_alloc(size_t bytes, size_t align);
void kilocore_free(void *memory);

u32 kilocore_cpu(void)
{
	return raw_smp_processor_id();
}

u32 kilocore_node(void)
{
	return numa_node_id();
}

unsigned long kilocore_current(void)
{
	return (unsigned long)current;
}

/* Not traced, as are those below: waiters call these in each turn of a loop. */
notrace void kilocore_cpu_relax(void)
{
	cpu_relax();
}

DEFINE_PER_CPU(unsigned long, kilocore_rest_count);

/* Says that a waiter begins to rest. */
notrace void kilocore_rests(void)
{
	this_cpu_inc(kilocore_rest_count);
}

/* Whether processors may rest. Not before all features and bugs of theirs are known. */
static bool kilocore_may_rest __ro_after_init;

/*
 * Those do not rest on which a write may fail to end the rest, or whose monitor needs the line to be flushed first, or
 * whose timer may stop meanwhile; nor those that the idle loop does not let rest so (prefer_mwait_c1_over_halt()). Under
 * Xen, the first domain has the feature for ACPI's sake, and must not use it.
 */
static int __init kilocore_rest_init(void)
{
	u32 eax, ebx, ecx, edx;

	if (!boot_cpu_has(X86_FEATURE_MWAIT) || boot_cpu_has(X86_FEATURE_XENPV) ||
	    boot_option_idle_override != IDLE_NO_OVERRIDE || boot_cpu_has_bug(X86_BUG_MONITOR) ||
	    boot_cpu_has_bug(X86_BUG_CLFLUSH_MONITOR) || boot_cpu_has_bug(X86_BUG_AMD_APIC_C1E))
		return 0;
	cpuid(CPUID_MWAIT_LEAF, &eax, &ebx, &ecx, &edx);
	kilocore_may_rest = !(ecx & CPUID5_ECX_EXTENSIONS_SUPPORTED) || edx & MWAIT_C1_SUBSTATE_MASK;
	return 0;
}
late_initcall(kilocore_rest_init);

/*
 * Has the processor watch a cache line for kilocore_rest(), if it can rest.
 *
 * Handlers of interrupts do not rest: one that comes between this and kilocore_rest() would have the
 * processor watch another line, and the interrupted waiter would rest until that one is written.
 */
notrace bool kilocore_watch(const void *line)
{
	if (!kilocore_may_rest || !in_task())
		return false;
	__monitor(line, 0, 0);
	return true;
}

/*
 * Rests in the lightest state, C1, until the line is written. An interrupt ends the rest too,
 * unless it is masked: then it could not be handled now anyway.
 */
notrace void kilocore_rest(void)
{
	x86_idle_clear_cpu_buffers();
	__mwait(0, 0);
}

NOKPROBE_SYMBOL(kilocore_watch);
NOKPROBE_SYMBOL(kilocore_rest);

void kilocore_preempt_disable(void)
{
	preempt_disable();
}

void kilocore_preempt_enable(void)
{
	preempt_enable();
}

void __noreturn kilocore_bug(void)
{
	BUG();
}

void *kilocore_alloc(size_t bytes, size_t align)
{
	/* A power of two is aligned to itself, and what is larger than a page to a page. */
	if (align > ARCH_KMALLOC_MINALIGN && bytes < PAGE_SIZE)
		bytes = roundup_pow_of_two(max(bytes, align));
	if (WARN_ON_ONCE(align > PAGE_SIZE))
		return NULL;
	return kvmalloc(ALIGN(bytes, align), GFP_KERNEL | __GFP_NOWARN);
}

void kilocore_free(void *memory)
{
	kvfree(memory);
}
