// SPDX-License-Identifier: GPL-2.0
/*
 * Free pages that are presumably in a last-level cache.
 *
 * What a per-CPU list has too much goes to a list of the CPU's last-level cache, the oldest first, before it
 * goes to the buddy lists. A per-CPU list that is empty is refilled from there, the newest first, before it
 * is from the buddy lists. So a CPU that only allocates gets the pages of one that only frees while they
 * are warm, and zone->lock is taken for none of them. There are such lists for each zone and each migrate
 * type of the per-CPU lists, for single pages only.
 *
 * The lists are those of Yang, Noh and Hong's "Improved Cache-hot Page Allocation Technique for Reducing
 * Page Initialization Latency of Linux Based Systems", in the source of kilocore's libs/pages. This file
 * has the switch, the sizes and the counters, and turns pages into the numbers that the lists have.
 *
 * Locks. They nest: the per-CPU lists' lock, a list's, zone->lock. A list's lock is only ever tried where
 * pages are put or taken: if it is held, the pages go the kernel's usual way. So an interrupt on a CPU that
 * holds a list, or that drains it without the per-CPU lists' lock, never waits for it. Only a drain waits,
 * in a task, and whoever holds a list is not preempted.
 *
 * Pages on the lists are in the state of pages on per-CPU lists: prepared for freeing, no longer charged,
 * without references, not PageBuddy, and not NR_FREE_PAGES. As there are at most 1/64 of a zone's pages on
 * its lists, watermarks take no account of them. While a zone is below its high watermark or is reclaimed,
 * no page is put there. The lists are drained when kswapd begins with a zone, by who has reclaimed memory and
 * gets none, before a node is compacted, and before processes are killed for want of memory.
 *
 * A page's block may get another type, or be isolated, while the page is here. A page that is given back
 * gets the type that its block has then, under zone->lock. A page that is taken must still have the type of
 * its list; otherwise it is given back. As with pages of per-CPU lists, its block may be isolated just
 * after that.
 *
 * A drain leaves no page on the lists that was there before it. zone_pcp_disable() first disables and drains the per-CPU
 * lists, each under its lock, so that no CPU puts pages here any more, and then drains these lists.
 */
#include <linux/cacheinfo.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/page-isolation.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include "page_tier.h"

/* The lists of a zone and type, for all caches: `Lists` of kilocore's linux/object/src/page_tier.rs. */
struct page_lists {
	u64 opaque[8];
};

/* The lists of a zone. */
struct page_tier {
	struct zone *zone;
	unsigned long first;		/* the page with number 0 */
	struct page_lists lists[MIGRATE_PCPTYPES];
};

/* Pages that come from or go to a per-CPU list. */
struct page_lot {
	struct page_tier *tier;
	struct list_head *list;
	int type;
	int got;
	int retyped;
	struct page *retyped_chain;
};

/* Numbers of pages are below this. One bit of a word is for what libs/pages knows of their contents. */
#define PAGE_TIER_MOST_PAGES ((1UL << 31) - 1)

/* For how many pages zone->lock is held: as for the largest lot of a per-CPU list. */
#define PAGE_TIER_MOST_AT_ONCE (63 << CONFIG_PCP_BATCH_SCALE_MAX)

/* What share of a zone's pages its lists may have. */
#define PAGE_TIER_SHARE 64

/* Zones whose lists would have fewer pages have none. */
#define PAGE_TIER_LEAST 16

/* Of a CPU that is below no cache. */
#define PAGE_TIER_NO_CACHE U32_MAX

/* The algorithm. It calls back the functions after it. */
bool kilocore_pages_make(struct page_lists *lists, struct page_tier *tier, const u32 *caches, u32 cpus,
			 u32 room);
void kilocore_pages_unmake(struct page_lists *lists);
bool kilocore_pages_put(struct page_lists *lists, u32 cpu, u32 pages, struct page_lot *lot);
int kilocore_pages_take(struct page_lists *lists, u32 cpu, u32 most, struct page_lot *lot);
u32 kilocore_pages_drain(struct page_lists *lists, u32 cpu);
u32 kilocore_pages_inside(struct page_lists *lists);
u32 kilocore_page_next(struct page_lot *lot);
void kilocore_page_got(struct page_lot *lot, u32 number);
struct page *kilocore_page_chain(struct page_tier *tier, u32 number, struct page *next);
void kilocore_pages_give_back(struct page_tier *tier, struct page *chain, u32 pages);

/* Whether pages are put and taken. */
DEFINE_STATIC_KEY_FALSE(page_tier_on);

DEFINE_PER_CPU(unsigned long [PAGE_TIER_COUNTS], page_tier_counts);

/* Read with preemption off, or inside rcu_read_lock(). */
static struct page_tier *page_tiers[MAX_NUMNODES][MAX_NR_ZONES];

static const char *const page_tier_count_names[PAGE_TIER_COUNTS] = {
	"put", "got", "returned", "drained", "retyped", "put_held", "take_held", "locks", "freed", "filled",
	"single_locks",
};

static void count(enum page_tier_count what, unsigned long by)
{
	this_cpu_add(page_tier_counts[what], by);
}

/* Pairs with the release in page_tier_start(). */
static struct page_tier *page_tier_of(struct zone *zone)
{
	return smp_load_acquire(&page_tiers[zone_to_nid(zone)][zone_idx(zone)]);
}

static struct page *page_tier_page(struct page_tier *tier, u32 number)
{
	return pfn_to_page(tier->first + number);
}

/* Whether each page of the zone has a number. A zone may have grown since its lists were made. */
static bool page_tier_spans(struct page_tier *tier)
{
	struct zone *zone = tier->zone;

	return zone->zone_start_pfn >= tier->first &&
	       zone_end_pfn(zone) - tier->first <= PAGE_TIER_MOST_PAGES;
}

u32 kilocore_page_next(struct page_lot *lot)
{
	struct page *page = list_last_entry(lot->list, struct page, pcp_list);

	list_del(&page->pcp_list);
	return page_to_pfn(page) - lot->tier->first;
}

void kilocore_page_got(struct page_lot *lot, u32 number)
{
	struct page *page = page_tier_page(lot->tier, number);
	int type = get_pageblock_migratetype(page);

	/* As free_unref_page() has it. */
	if (type >= MIGRATE_PCPTYPES && !is_migrate_isolate(type))
		type = MIGRATE_MOVABLE;
	if (likely(type == lot->type)) {
		list_add_tail(&page->pcp_list, lot->list);
		lot->got++;
	} else {
		lot->retyped_chain = kilocore_page_chain(lot->tier, number, lot->retyped_chain);
		lot->retyped++;
	}
}

struct page *kilocore_page_chain(struct page_tier *tier, u32 number, struct page *next)
{
	struct page *page = page_tier_page(tier, number);

	set_page_private(page, (unsigned long)next);
	return page;
}

static void page_tier_free(struct zone *zone, struct page *chain, int pages)
{
	while (chain) {
		int most = min(pages, PAGE_TIER_MOST_AT_ONCE);

		page_tier_count_lot(PAGE_TIER_FREED, most);
		chain = free_page_tier_chain(zone, chain, most);
		pages -= most;
	}
}

void kilocore_pages_give_back(struct page_tier *tier, struct page *chain, u32 pages)
{
	count(PAGE_TIER_RETURNED, pages);
	page_tier_free(tier->zone, chain, pages);
}

int __page_tier_put(struct zone *zone, struct per_cpu_pages *pcp, int pages, int pindex)
{
	struct page_lot lot = { .tier = page_tier_of(zone), .list = &pcp->lists[pindex] };
	struct list_head *at;
	int found = 0;

	if (!lot.tier || !page_tier_spans(lot.tier))
		return 0;
	/* Memory is short: it is better free than warm. */
	if (test_bit(ZONE_BELOW_HIGH, &zone->flags) || test_bit(ZONE_RECLAIM_ACTIVE, &zone->flags))
		return 0;
	list_for_each_prev(at, lot.list)
		if (++found == pages)
			break;
	if (!found)
		return 0;
	if (!kilocore_pages_put(&lot.tier->lists[pindex], smp_processor_id(), found, &lot)) {
		count(PAGE_TIER_PUT_HELD, 1);
		return 0;
	}
	count(PAGE_TIER_PUT, found);
	pcp->count -= found;
	return found;
}

int __page_tier_take(struct zone *zone, int pages, struct list_head *list, int migratetype)
{
	struct page_lot lot = { .tier = page_tier_of(zone), .list = list, .type = migratetype };

	if (!lot.tier)
		return 0;
	if (kilocore_pages_take(&lot.tier->lists[migratetype], smp_processor_id(), pages, &lot) < 0)
		count(PAGE_TIER_TAKE_HELD, 1);
	count(PAGE_TIER_GOT, lot.got);
	if (unlikely(lot.retyped)) {
		count(PAGE_TIER_RETYPED, lot.retyped);
		page_tier_free(zone, lot.retyped_chain, lot.retyped);
	}
	return lot.got;
}

/* Gives all pages of a zone's lists, or those of all zones, to the buddy lists. Returns how many. */
unsigned long page_tier_drain(struct zone *zone)
{
	unsigned long drained = 0;
	struct page_tier *tier;
	struct zone *each;
	int type;

	if (!zone) {
		for_each_populated_zone(each)
			drained += page_tier_drain(each);
		return drained;
	}
	rcu_read_lock();
	tier = page_tier_of(zone);
	for (type = 0; tier && type < MIGRATE_PCPTYPES; type++)
		drained += kilocore_pages_drain(&tier->lists[type], raw_smp_processor_id());
	rcu_read_unlock();
	count(PAGE_TIER_DRAINED, drained);
	return drained;
}

static void page_tier_unmake(struct page_tier *tier)
{
	int type;

	for (type = 0; type < MIGRATE_PCPTYPES; type++)
		kilocore_pages_unmake(&tier->lists[type]);
	kfree(tier);
}

/*
 * Says for each CPU which last-level cache it is below. Returns how many there are, and the size of one in
 * pages. A CPU that is not online has no part in the lists; when it comes up, it uses the first one.
 */
static int page_tier_caches(u32 *caches, unsigned long *pages)
{
	int cpu, first, number = 0;

	*pages = 0;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		caches[cpu] = PAGE_TIER_NO_CACHE;
	for_each_online_cpu(cpu) {
		struct cpu_cacheinfo *info = get_cpu_cacheinfo(cpu);
		struct cacheinfo *last;

		first = cpu;
		if (info->info_list && info->num_leaves) {
			last = &info->info_list[info->num_leaves - 1];
			first = cpumask_first_and(&last->shared_cpu_map, cpu_online_mask);
			*pages = max(*pages, last->size >> PAGE_SHIFT);
		}
		caches[cpu] = first < cpu ? caches[first] : number++;
	}
	return number;
}

/* Most free pages of a zone that move in bulk are movable. */
static u32 page_tier_share(unsigned long room, int type)
{
	return type == MIGRATE_MOVABLE ? room / 2 : room / 4;
}

static struct page_tier *page_tier_make(struct zone *zone, const u32 *caches, unsigned long room)
{
	struct page_tier *tier = kzalloc(sizeof(*tier), GFP_KERNEL);
	int type;

	if (!tier)
		return NULL;
	tier->zone = zone;
	tier->first = zone->zone_start_pfn;
	for (type = 0; type < MIGRATE_PCPTYPES; type++)
		if (!kilocore_pages_make(&tier->lists[type], tier, caches, nr_cpu_ids,
					 page_tier_share(room, type)))
			goto none;
	return tier;
none:
	while (type--)
		kilocore_pages_unmake(&tier->lists[type]);
	kfree(tier);
	return NULL;
}

/* The lists are off afterwards, all pages are given back, and the lists' memory is freed. */
static void page_tier_stop(void)
{
	struct page_tier *tiers[MAX_NR_ZONES];
	int node, zone;

	static_branch_disable(&page_tier_on);
	/* Who has seen them on holds a per-CPU list's lock, and so is not preempted. */
	synchronize_rcu();
	page_tier_drain(NULL);
	for_each_node(node) {
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			tiers[zone] = xchg(&page_tiers[node][zone], NULL);
		/* Others may be draining. */
		synchronize_rcu();
		for (zone = 0; zone < MAX_NR_ZONES; zone++)
			if (tiers[zone])
				page_tier_unmake(tiers[zone]);
	}
}

/* How many pages the lists of one cache have room for in all zones together, while they are on. */
static unsigned long page_tier_pages;

/* Makes lists with room for so many pages below each cache, or for half of the cache, and turns them on. */
static int page_tier_start(unsigned long pages)
{
	u32 *caches = kcalloc(nr_cpu_ids, sizeof(*caches), GFP_KERNEL);
	unsigned long cache_pages, managed = 0;
	int cache_count, error = 0;
	struct zone *zone;

	if (!caches)
		return -ENOMEM;
	cpus_read_lock();
	cache_count = page_tier_caches(caches, &cache_pages);
	cpus_read_unlock();
	page_tier_pages = pages ?: cache_pages / 2;
	if (!page_tier_pages) {
		/* The processors do not say how large their caches are. */
		kfree(caches);
		return -ENODEV;
	}
	for_each_populated_zone(zone)
		managed += zone_managed_pages(zone);
	for_each_populated_zone(zone) {
		unsigned long here = zone_managed_pages(zone);
		unsigned long room = mult_frac(page_tier_pages, here, managed);
		struct page_tier *tier;

		room = min(room, here / PAGE_TIER_SHARE / cache_count);
		if (room < PAGE_TIER_LEAST)
			continue;
		if (zone->spanned_pages > PAGE_TIER_MOST_PAGES) {
			pr_warn_once("page_tier: zone %s has too many pages, and no lists\n", zone->name);
			continue;
		}
		tier = page_tier_make(zone, caches, room);
		if (!tier) {
			error = -ENOMEM;
			break;
		}
		smp_store_release(&page_tiers[zone_to_nid(zone)][zone_idx(zone)], tier);
	}
	kfree(caches);
	if (error)
		page_tier_stop();
	else
		static_branch_enable(&page_tier_on);
	return error;
}

/* "off", "on", or a number of pages. Returns false for anything else. */
static bool page_tier_parse(char *text, bool *on, unsigned long *pages)
{
	*on = strcmp(text, "off");
	*pages = 0;
	return !*on || !strcmp(text, "on") || (!kstrtoul(text, 0, pages) && *pages && *pages <= INT_MAX);
}

static bool page_tier_on_at_boot __initdata;
static unsigned long page_tier_pages_at_boot __initdata;

static int __init page_tier_setup(char *text)
{
	if (page_tier_parse(text, &page_tier_on_at_boot, &page_tier_pages_at_boot))
		return 1;
	page_tier_on_at_boot = false;
	pr_warn("page_tier=%s: not known; off, on, or a number of pages\n", text);
	return 0;
}
__setup("page_tier=", page_tier_setup);

static DEFINE_MUTEX(page_tier_setting_lock);

static ssize_t page_tier_setting_write(struct file *file, const char __user *from, size_t size,
				       loff_t *at)
{
	char text[24] = {};
	unsigned long pages;
	int error = 0;
	bool on;

	if (size >= sizeof(text) || copy_from_user(text, from, size))
		return -EINVAL;
	if (!page_tier_parse(strim(text), &on, &pages))
		return -EINVAL;
	mutex_lock(&page_tier_setting_lock);
	page_tier_stop();
	if (on)
		error = page_tier_start(pages);
	mutex_unlock(&page_tier_setting_lock);
	return error ?: size;
}

static int page_tier_setting_show(struct seq_file *out, void *unused)
{
	mutex_lock(&page_tier_setting_lock);
	if (static_key_enabled(&page_tier_on))
		seq_printf(out, "off [on] %lu\n", page_tier_pages);
	else
		seq_puts(out, "[off] on\n");
	mutex_unlock(&page_tier_setting_lock);
	return 0;
}

DEFINE_SHOW_STORE_ATTRIBUTE(page_tier_setting);

static u32 page_tier_inside(struct zone *zone)
{
	struct page_tier *tier;
	u32 inside = 0;
	int type;

	rcu_read_lock();
	tier = page_tier_of(zone);
	for (type = 0; tier && type < MIGRATE_PCPTYPES; type++)
		inside += kilocore_pages_inside(&tier->lists[type]);
	rcu_read_unlock();
	return inside;
}

static int page_tier_counts_show(struct seq_file *out, void *unused)
{
	enum page_tier_count what;
	unsigned long inside = 0;
	struct zone *zone;
	int cpu;

	for (what = 0; what < PAGE_TIER_COUNTS; what++) {
		unsigned long sum = 0;

		if (what >= PAGE_TIER_LOCKS && !IS_ENABLED(CONFIG_PAGE_TIER_STATS))
			continue;
		for_each_possible_cpu(cpu)
			sum += per_cpu(page_tier_counts[what], cpu);
		seq_printf(out, "%s %lu\n", page_tier_count_names[what], sum);
	}
	for_each_populated_zone(zone) {
		u32 here = page_tier_inside(zone);

		seq_printf(out, "inside_%d_%s %u\n", zone_to_nid(zone), zone->name, here);
		inside += here;
	}
	seq_printf(out, "inside %lu\n", inside);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(page_tier_counts);

static int __init page_tier_init(void)
{
	struct dentry *folder = debugfs_create_dir("page_tier", NULL);
	int error = 0;

	debugfs_create_file("setting", 0600, folder, NULL, &page_tier_setting_fops);
	debugfs_create_file("counts", 0400, folder, NULL, &page_tier_counts_fops);
	if (page_tier_on_at_boot)
		error = page_tier_start(page_tier_pages_at_boot);
	if (error)
		pr_warn("page_tier: off, as the lists could not be made: %d\n", error);
	return error;
}
late_initcall(page_tier_init);
