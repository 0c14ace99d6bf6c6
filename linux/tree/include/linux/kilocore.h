/* SPDX-License-Identifier: GPL-2.0 */
/* What the glue of kilocore's algorithms counts. */
#ifndef _LINUX_KILOCORE_H
#define _LINUX_KILOCORE_H

#include <linux/percpu.h>

/* How often a waiter rested, or would have if the processor could. */
DECLARE_PER_CPU(unsigned long, kilocore_rest_count);

#endif /* _LINUX_KILOCORE_H */
