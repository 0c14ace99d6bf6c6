// SPDX-License-Identifier: GPL-2.0
/*
 * LRU lists with many locks: FinerLRU.
 *
 * Who writes files on many CPUs waits for the lru_lock of the memory group's lists. Here the lists are cut
 * into stripes. Each stripe has a lock and the five lists of its own, and the page frame number of a folio
 * says which stripe is its own. So a folio's lock is that of its stripe, and all moves between lists stay
 * within one. This is the improved FinerLRU of Byun and others, "Optimizing LRU Lock Management in the Linux
 * Kernel for Improving Parallel Write Throughput in Many-Core CPU Systems" (2023, section 2.3), as it is in
 * kilocore's libs/lru, which says which stripe it is, and from which one reclaim takes.
 *
 * A stripe is a struct lruvec, inside a struct mem_cgroup_per_node that is there for its sake. Whoever has
 * locked the lruvec of a folio has that of its stripe, and adds and deletes folios and unlocks it as ever. The
 * memory group's own lruvec is the first stripe, and the "whole" for all that is not a list. What lru_lock
 * guards, and why that holds with stripes:
 *
 * - The lists. Each is changed with the lock of its stripe. A folio is of one stripe as long as it is on a
 *   list: its first page stays the same, and its memory group changes only while it is isolated. lockdep
 *   checks, in __update_lru_size(), that the lock is held of the lruvec that is changed.
 * - lru_zone_size, which is updated plainly and must never be negative. Each stripe has its own, under its
 *   lock. mem_cgroup_get_zone_lru_size() adds them up, without locks, as it has always read it.
 * - The node's, the zone's and the group's statistics of the lists are counters of CPUs, for which interrupts
 *   have to be off, which they are. A stripe refers to its group's, so balances of active and inactive, and
 *   of file and anon, are those of all stripes.
 * - anon_cost and file_cost are the whole's, and so under the lock of the first stripe; nonresident_age is
 *   the whole's, and atomic. lru_note_cost() and workingset_age_nonresident(), which reclaim calls with a
 *   stripe, turn to the whole.
 * - mlock_count and the flags of a folio on a list are of one folio. Who changes them has the lock of its stripe.
 *   PG_mlocked is an exception, in stock Linux as well: see the restrictions.
 * - The split of a folio. The tails go onto the list that their head is on, and are counted there already.
 *   They have to be of its stripe. They are, as all page frames of 2^9 are of one stripe, and no folio on a
 *   list is larger, nor is one ever not aligned to its size.
 * - One folio after another: who has the lock of one and needs that of another asks folio_matches_lruvec(), which
 *   compares the stripe, too. Nobody holds the locks of two stripes.
 *
 * Reclaim gets the numbers of pages to scan from the sizes of all stripes together, and scans up to 32 at a time.
 * It asks one stripe after the other. Each gives up its share, which is 32 pages of a stripe that has as many as
 * the stripes have in the mean, and as many more or fewer of one that has more or fewer. Pages of zones above
 * sc->reclaim_idx do not count, and scans with another one have turns of their own. So each stripe gives up the
 * same part of its pages, as does each part of one list. A scan of all pages comes to all of them, but for what is
 * put in meanwhile and for a share of each stripe. Stripes of many pages, which are nearly as large, give all 32,
 * with the lock of one taken once. If the last folio is large, what it has too much is not asked of others. Reclaim
 * puts back what it has isolated with the lock of that stripe, whose folios they are.
 *
 * Restrictions. The number of stripes is that of the boot: finer_lru=N. Folios would have to change their
 * stripes otherwise, and everybody to look after taking a lock whether it is still the right one. The
 * multi-generational LRU has lists of its own, and fills them from lruvec->lists. So there is one stripe if it is
 * enabled at boot, and it cannot be enabled if there are more. There is also one without memory groups.
 *
 * An evictable folio may stay on the unevictable list. __munlock_folio() cannot isolate a folio that another CPU has
 * isolated, or is about to add. It clears PG_mlocked all the same, and relies on the other CPU to see that. The
 * other CPU does not if it has just found the folio to be mlocked, and sets PG_lru a moment later.
 * The lru_lock rules this out if __munlock_folio() has that of the folio. It has the lock of the folio before it in its
 * batch: of another group, perhaps, in stock Linux, and none if there is no folio before; here often of another
 * stripe. The folio stays there until it is freed or migrated, or until it is mlocked and munlocked again.
 */
#include <linux/debugfs.h>
#include <linux/finer_lru.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mm_inline.h>
#include <linux/pagemap.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/vmalloc.h>

/* So many low bits of a page frame number do not matter: GROUP_BITS of linux/object/src/finer_lru.rs. */
#define FINER_LRU_GROUP_BITS 9
static_assert(PREFERRED_MAX_PAGECACHE_ORDER <= FINER_LRU_GROUP_BITS && PMD_ORDER <= FINER_LRU_GROUP_BITS);

/* A stripe takes some 1.7 KB for each memory group and possible node. The parent group is charged. */
#define FINER_LRU_MOST 256

/* What the lists of a memory group on a node have beyond the stock ones. */
struct finer_lru {
	/*
	 * Which stripe gives up pages next, for each list, and each highest zone that may be wanted: `Shares` of kilocore's
	 * libs/lru. All zero at first.
	 */
	struct finer_lru_shares {
		u64 turn;
		u32 mean;
	} shares[NR_LRU_LISTS][MAX_NR_ZONES];
	/* All stripes but the first. */
	struct mem_cgroup_per_node others[];
};

/* The algorithm. It calls back the last function. */
u32 kilocore_lru_stripe(u32 frame, u32 stripes);
int kilocore_lru_next(struct finer_lru_shares *shares, u32 *round, u32 stripes, u32 wanted,
		      struct finer_lru_scan *scan, u32 *gives);
u32 kilocore_lru_pages(struct finer_lru_scan *scan, u32 stripe);
static_assert(sizeof(struct finer_lru_shares) == 16);
static_assert(SWAP_CLUSTER_MAX == 32);

DEFINE_STATIC_KEY_FALSE(finer_lru_key);

/* How many stripes there are, from the first memory group on. */
static unsigned int finer_lru_stripes __ro_after_init = 1;

/* Errors that tests plant. */
enum finer_lru_planted {
	FINER_LRU_NO_RELOCK = 1,	/* of 1024 folios, one is added with the lock of the one before it */
	FINER_LRU_LEFT_OUT,		/* reclaim never takes from the stripe with number 3 */
	FINER_LRU_NO_GROUPS,		/* neighbours, and tails of a folio, are of different stripes */
};

#ifdef CONFIG_FINER_LRU_CHECK
static int finer_lru_planted __ro_after_init;
#else
#define finer_lru_planted 0
#endif

static struct mem_cgroup_per_node *finer_lru_pn(struct lruvec *lruvec)
{
	return container_of(lruvec, struct mem_cgroup_per_node, lruvec);
}

/* Of lists that have stripes. */
static struct lruvec *finer_lru_nth(const struct mem_cgroup_per_node *pn, u32 stripe)
{
	struct lruvec *lruvec = (struct lruvec *)&pn->lruvec;

	if (!stripe)
		return lruvec;
	lruvec = &pn->finer_lru->others[stripe - 1].lruvec;
	/* As in mem_cgroup_lruvec(), which has done it for the first one. */
	if (unlikely(lruvec->pgdat != pn->lruvec.pgdat))
		lruvec->pgdat = pn->lruvec.pgdat;
	return lruvec;
}

/*
 * The caller has the folio isolated, locked or frozen, as for folio_lruvec(): so its first page is that of
 * the folio which is on a list, or will be.
 */
struct lruvec *__finer_lru_stripe(struct lruvec *whole, struct folio *folio)
{
	struct mem_cgroup_per_node *pn = finer_lru_pn(whole);
	unsigned long pfn = folio_pfn(folio);

	if (unlikely(!pn->finer_lru))
		return whole;
	if (finer_lru_planted == FINER_LRU_NO_GROUPS)
		pfn <<= FINER_LRU_GROUP_BITS;
	return finer_lru_nth(pn, kilocore_lru_stripe(pfn, finer_lru_stripes));
}

bool __finer_lru_matches(struct lruvec *stripe, struct folio *folio)
{
	if (finer_lru_planted == FINER_LRU_NO_RELOCK && folio_pfn(folio) % 1024 == 7)
		return true;
	return __finer_lru_stripe(folio_lruvec(folio), folio) == stripe;
}

struct lruvec *__finer_lru_whole(struct lruvec *stripe)
{
	return mem_cgroup_lruvec(lruvec_memcg(stripe), lruvec_pgdat(stripe));
}

/* How many pages of a stripe's list reclaim may take. It is read without the lock. */
u32 kilocore_lru_pages(struct finer_lru_scan *scan, u32 stripe)
{
	struct mem_cgroup_per_node *pn = finer_lru_pn(finer_lru_nth(finer_lru_pn(scan->whole), stripe));
	unsigned long pages = 0;
	int zone;

	if (finer_lru_planted == FINER_LRU_LEFT_OUT && stripe == 3)
		return 0;
	for (zone = 0; zone <= scan->reclaim_idx; zone++)
		pages += READ_ONCE(pn->lru_zone_size[zone][scan->lru]);
	return min(pages, (unsigned long)U32_MAX);
}

struct lruvec *__finer_lru_next(struct finer_lru_scan *scan)
{
	struct mem_cgroup_per_node *pn = finer_lru_pn(scan->whole);
	u32 gives;
	int stripe;

	if (unlikely(!pn->finer_lru))
		return finer_lru_only(scan);
	if (!scan->left)
		return NULL;
	stripe = kilocore_lru_next(&pn->finer_lru->shares[scan->lru][scan->reclaim_idx], &scan->round,
				   finer_lru_stripes, min(scan->left, (unsigned long)U32_MAX), scan, &gives);
	if (stripe < 0)
		return NULL;
	scan->nr = gives;
	scan->left -= gives;
	return finer_lru_nth(pn, stripe);
}

unsigned long __finer_lru_others_size(struct lruvec *whole, int lru, int zone)
{
	struct mem_cgroup_per_node *pn = finer_lru_pn(whole);
	unsigned long pages = 0;
	unsigned int i;

	for (i = 0; pn->finer_lru && i < finer_lru_stripes - 1; i++)
		pages += READ_ONCE(pn->finer_lru->others[i].lru_zone_size[zone][lru]);
	return pages;
}

/*
 * The first call is for the first memory group, before there is any folio on a list: folio_lruvec() needs a
 * memory group.
 */
static bool finer_lru_start(void)
{
	if (finer_lru_stripes == 1)
		return false;
	if (finer_lru_on())
		return true;
	if (lru_gen_enabled() || mem_cgroup_disabled()) {
		pr_warn("finer_lru: off, as %s\n",
			lru_gen_enabled() ? "the multi-generational LRU is enabled" : "memory groups are disabled");
		finer_lru_stripes = 1;
		return false;
	}
	static_branch_enable(&finer_lru_key);
	return true;
}

/* Makes the other stripes of a memory group on a node. Without memory for them, the group has one stripe there. */
void finer_lru_make(struct mem_cgroup_per_node *pn, int node)
{
	struct finer_lru *finer;
	unsigned int i;

	if (!finer_lru_start())
		return;
	/*
	 * As for the group's statistics, mem_cgroup_css_alloc() sees to it that the parent is charged. No process is
	 * killed for this if the parent is at its limit. kvzalloc_node() would try hard to get contiguous pages first,
	 * and others wait for cgroup_mutex.
	 */
	finer = __vmalloc_node(struct_size(finer, others, finer_lru_stripes - 1), 1,
			       GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
			       node_online(node) ? node : NUMA_NO_NODE, __builtin_return_address(0));
	if (!finer) {
		pr_warn_once("finer_lru: no memory for the stripes of a memory group, which has one stripe\n");
		return;
	}
	for (i = 0; i < finer_lru_stripes - 1; i++) {
		struct mem_cgroup_per_node *other = &finer->others[i];

		lruvec_init(&other->lruvec);
		other->memcg = pn->memcg;
		other->lruvec_stats = pn->lruvec_stats;
		other->lruvec_stats_percpu = pn->lruvec_stats_percpu;
	}
	pn->finer_lru = finer;
}

/* No folio is left on any list. */
void finer_lru_unmake(struct mem_cgroup_per_node *pn)
{
	vfree(pn->finer_lru);
}

static int __init finer_lru_setup(char *text)
{
	unsigned int stripes;

	if (!kstrtouint(text, 0, &stripes) && stripes && stripes <= FINER_LRU_MOST)
		finer_lru_stripes = stripes;
	else
		pr_warn("finer_lru=%s: not a number of stripes from 1 to %d\n", text, FINER_LRU_MOST);
	return 1;
}
__setup("finer_lru=", finer_lru_setup);

static int finer_lru_setting_show(struct seq_file *out, void *unused)
{
	seq_printf(out, "%u\n", finer_lru_stripes);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(finer_lru_setting);

#ifdef CONFIG_FINER_LRU_CHECK
static int __init finer_lru_planted_setup(char *text)
{
	return !kstrtoint(text, 0, &finer_lru_planted);
}
__setup("finer_lru_planted=", finer_lru_planted_setup);

static DEFINE_PER_CPU(unsigned long, finer_lru_locks);
static DEFINE_PER_CPU(unsigned long, finer_lru_held);

void finer_lru_count(struct lruvec *lruvec)
{
	this_cpu_inc(finer_lru_locks);
	if (spin_is_locked(&lruvec->lru_lock))
		this_cpu_inc(finer_lru_held);
}

static int finer_lru_counts_show(struct seq_file *out, void *unused)
{
	unsigned long locks = 0, held = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		locks += per_cpu(finer_lru_locks, cpu);
		held += per_cpu(finer_lru_held, cpu);
	}
	seq_printf(out, "locks %lu\nheld %lu\n", locks, held);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(finer_lru_counts);

struct finer_lru_sums {
	unsigned long pages[NR_LRU_LISTS];	/* as the stripes count them */
	unsigned long folios;			/* that were found on lists */
	unsigned long miscounted;		/* lists that have not as many pages as their stripe counts */
	unsigned long misplaced;		/* folios of another stripe, group or node */
	unsigned long mistyped;			/* folios of another list */
	unsigned long stripes[FINER_LRU_MOST][NR_LRU_LISTS];
};

/* The unevictable pages are only counted: they are on no list. */
static void finer_lru_check_stripe(struct mem_cgroup_per_node *pn, u32 index, struct finer_lru_sums *sums)
{
	struct lruvec *whole = &pn->lruvec;
	struct lruvec *stripe = finer_lru_nth(pn, index);
	struct pglist_data *pgdat = lruvec_pgdat(whole);
	enum lru_list lru;
	int zone;

	spin_lock_irq(&stripe->lru_lock);
	for_each_lru(lru) {
		unsigned long found[MAX_NR_ZONES] = {};
		struct folio *folio;

		if (lru != LRU_UNEVICTABLE) {
			list_for_each_entry(folio, &stripe->lists[lru], lru) {
				sums->folios++;
				found[folio_zonenum(folio)] += folio_nr_pages(folio);
				if (finer_lru_stripe(whole, folio) != stripe || folio_memcg(folio) != pn->memcg ||
				    folio_pgdat(folio) != pgdat)
					sums->misplaced++;
				if (folio_lru_list(folio) != lru)
					sums->mistyped++;
			}
		}
		for (zone = 0; zone < MAX_NR_ZONES; zone++) {
			unsigned long size = finer_lru_pn(stripe)->lru_zone_size[zone][lru];

			if (lru != LRU_UNEVICTABLE && size != found[zone])
				sums->miscounted++;
			sums->pages[lru] += size;
			sums->stripes[index][lru] += size;
		}
	}
	spin_unlock_irq(&stripe->lru_lock);
}

static const char *const finer_lru_names[NR_LRU_LISTS] = {
	"inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable",
};

/*
 * Walks all lists. What is wrong, is so whatever others do meanwhile, as a stripe is looked at with its lock
 * held. The sums are those of a moment only if nobody does anything.
 */
static int finer_lru_check_show(struct seq_file *out, void *unused)
{
	struct finer_lru_sums *sums;
	struct mem_cgroup *memcg;
	enum lru_list lru;
	int groups = 0, without_stripes = 0;
	u32 i;
	int node;

	if (lru_gen_enabled() || mem_cgroup_disabled())
		return -EOPNOTSUPP;
	sums = kvzalloc(sizeof(*sums), GFP_KERNEL);
	if (!sums)
		return -ENOMEM;
	for (memcg = mem_cgroup_iter(NULL, NULL, NULL); memcg; memcg = mem_cgroup_iter(NULL, memcg, NULL)) {
		groups++;
		for_each_node_state(node, N_MEMORY) {
			/* Sees to it that the node is known. */
			struct mem_cgroup_per_node *pn = finer_lru_pn(mem_cgroup_lruvec(memcg, NODE_DATA(node)));

			without_stripes += finer_lru_on() && !pn->finer_lru;
			for (i = 0; i < (pn->finer_lru ? finer_lru_stripes : 1); i++)
				finer_lru_check_stripe(pn, i, sums);
			cond_resched();
		}
	}
	seq_printf(out, "groups %d\nwithout_stripes %d\nfolios %lu\nmiscounted %lu\nmisplaced %lu\nmistyped %lu\n",
		   groups, without_stripes, sums->folios, sums->miscounted, sums->misplaced, sums->mistyped);
	for_each_lru(lru)
		seq_printf(out, "nr_%s %lu\n", finer_lru_names[lru], sums->pages[lru]);
	for (i = 0; i < finer_lru_stripes; i++) {
		seq_printf(out, "stripe_%u", i);
		for_each_lru(lru)
			seq_printf(out, " %lu", sums->stripes[i][lru]);
		seq_putc(out, '\n');
	}
	kvfree(sums);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(finer_lru_check);
#endif

static int __init finer_lru_init(void)
{
	struct dentry *folder = debugfs_create_dir("finer_lru", NULL);

	debugfs_create_file("setting", 0400, folder, NULL, &finer_lru_setting_fops);
#ifdef CONFIG_FINER_LRU_CHECK
	debugfs_create_file("counts", 0400, folder, NULL, &finer_lru_counts_fops);
	debugfs_create_file("check", 0400, folder, NULL, &finer_lru_check_fops);
#endif
	return 0;
}
late_initcall(finer_lru_init);
