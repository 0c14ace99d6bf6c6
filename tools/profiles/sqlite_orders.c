/* Drives SQLite with a mix of transactions like that of TPC-C, which published studies of locks
 * drove it with: 45 % take an order, 43 % a payment, the rest look orders up.
 *
 *   driver create FILE          makes the database
 *   driver run FILE THREADS SECONDS
 *
 * Each thread has a connection of its own. Writers take the database's write lock as the
 * transaction begins and wait for it as SQLite's busy handler does.
 */
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAREHOUSES = 8, DISTRICTS = 10, CUSTOMERS = 300, ITEMS = 10000, LINES = 10 };

static const char *file;
static atomic_int over;
static atomic_ulong transactions;

static void check(int result, sqlite3 *db, const char *what) {
    if (result != SQLITE_OK && result != SQLITE_DONE && result != SQLITE_ROW) {
        fprintf(stderr, "driver: %s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static sqlite3 *connect_to(void) {
    sqlite3 *db;
    check(sqlite3_open(file, &db), db, file);
    sqlite3_busy_timeout(db, 60000);
    check(sqlite3_exec(db, "pragma journal_mode=wal; pragma synchronous=off;", 0, 0, 0), db, file);
    return db;
}

/* Statements of a connection, prepared once. */
enum {
    BEGIN, BEGIN_WRITING, COMMIT, CUSTOMER, NEXT_ORDER, ADD_ORDER, PRICE, TAKE, ADD_LINE,
    PAY_WAREHOUSE, PAY_DISTRICT, PAY_CUSTOMER, LAST_ORDER, ORDER_LINES, LOW_STOCK, STATEMENTS
};
static const char *const text[STATEMENTS] = {
    [BEGIN] = "begin",
    [BEGIN_WRITING] = "begin immediate",
    [COMMIT] = "commit",
    [CUSTOMER] = "select name, balance from customer where w=?1 and d=?2 and c=?3",
    [NEXT_ORDER] = "update district set next=next+1 where w=?1 and d=?2 returning next",
    [ADD_ORDER] = "insert into orders values(?1,?2,?3,?4,0)",
    [PRICE] = "select price from item where i=?1",
    [TAKE] = "update stock set quantity=case when quantity>9 then quantity-1 else quantity+91 end"
             " where w=?1 and i=?2",
    [ADD_LINE] = "insert into line values(?1,?2,?3,?4,?5,?6)",
    [PAY_WAREHOUSE] = "update warehouse set total=total+?2 where w=?1",
    [PAY_DISTRICT] = "update district set total=total+?3 where w=?1 and d=?2",
    [PAY_CUSTOMER] = "update customer set balance=balance-?4 where w=?1 and d=?2 and c=?3",
    [LAST_ORDER] = "select o from orders where w=?1 and d=?2 and c=?3 order by o desc limit 1",
    [ORDER_LINES] = "select i, price from line where w=?1 and d=?2 and o=?3",
    [LOW_STOCK] = "select count(distinct line.i) from line join stock on stock.w=line.w and"
                  " stock.i=line.i where line.w=?1 and line.d=?2 and line.o>=?3 and quantity<15",
};

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    unsigned chance;
} Client;

/* Runs a statement with up to six numbers and gives the first number of its first row. */
static sqlite3_int64 run(Client *client, int which, int count, const sqlite3_int64 *numbers) {
    sqlite3_stmt *statement = client->statements[which];
    for (int place = 0; place < count; place++)
        sqlite3_bind_int64(statement, place + 1, numbers[place]);
    sqlite3_int64 first = 0;
    int result, rows = 0;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW)
        if (rows++ == 0) first = sqlite3_column_int64(statement, 0);
    check(result, client->db, text[which]);
    sqlite3_reset(statement);
    return first;
}
#define RUN(client, which, ...) \
    run(client, which, sizeof((sqlite3_int64[]){__VA_ARGS__}) / sizeof(sqlite3_int64), \
        (sqlite3_int64[]){__VA_ARGS__})

static int below(Client *client, int limit) { return rand_r(&client->chance) % limit; }

static void take_order(Client *client, int w, int d, int c) {
    RUN(client, BEGIN_WRITING, 0);
    RUN(client, CUSTOMER, w, d, c);
    sqlite3_int64 order = RUN(client, NEXT_ORDER, w, d);
    RUN(client, ADD_ORDER, w, d, order, c);
    for (int line = 0; line < LINES; line++) {
        int item = below(client, ITEMS);
        sqlite3_int64 price = RUN(client, PRICE, item);
        RUN(client, TAKE, w, item);
        RUN(client, ADD_LINE, w, d, order, line, item, price);
    }
    RUN(client, COMMIT, 0);
}

static void pay(Client *client, int w, int d, int c) {
    int amount = 1 + below(client, 5000);
    RUN(client, BEGIN_WRITING, 0);
    RUN(client, PAY_WAREHOUSE, w, amount);
    RUN(client, PAY_DISTRICT, w, d, amount);
    RUN(client, PAY_CUSTOMER, w, d, c, amount);
    RUN(client, COMMIT, 0);
}

static void look_up(Client *client, int w, int d, int c) {
    RUN(client, BEGIN, 0);
    RUN(client, CUSTOMER, w, d, c);
    sqlite3_int64 order = RUN(client, LAST_ORDER, w, d, c);
    RUN(client, ORDER_LINES, w, d, order);
    if (below(client, 3) == 0) RUN(client, LOW_STOCK, w, d, order - 20);
    RUN(client, COMMIT, 0);
}

static void *work(void *number) {
    Client client = {.db = connect_to(), .chance = (unsigned)(size_t)number};
    for (int which = 0; which < STATEMENTS; which++)
        check(sqlite3_prepare_v2(client.db, text[which], -1, &client.statements[which], 0),
              client.db, text[which]);
    while (!over) {
        int kind = below(&client, 100), w = below(&client, WAREHOUSES);
        int d = below(&client, DISTRICTS), c = below(&client, CUSTOMERS);
        if (kind < 45) take_order(&client, w, d, c);
        else if (kind < 88) pay(&client, w, d, c);
        else look_up(&client, w, d, c);
        transactions++;
    }
    for (int which = 0; which < STATEMENTS; which++) sqlite3_finalize(client.statements[which]);
    sqlite3_close(client.db);
    return 0;
}

static void create(void) {
    sqlite3 *db = connect_to();
    char fill[2048];
    snprintf(fill, sizeof fill,
        "begin;"
        "create table warehouse(w integer primary key, total int);"
        "create table district(w int, d int, next int, total int, primary key(w,d)) without rowid;"
        "create table customer(w int, d int, c int, name text, balance int, primary key(w,d,c))"
        " without rowid;"
        "create table item(i integer primary key, price int);"
        "create table stock(w int, i int, quantity int, primary key(w,i)) without rowid;"
        "create table orders(w int, d int, o int, c int, carrier int, primary key(w,d,o))"
        " without rowid;"
        "create index by_customer on orders(w,d,c,o);"
        "create table line(w int, d int, o int, n int, i int, price int, primary key(w,d,o,n))"
        " without rowid;"
        "create temp table n(k integer primary key);"
        "with recursive c(x) as (select 0 union all select x+1 from c where x<%d)"
        " insert into n select x from c;"
        "insert into warehouse select k, 0 from n where k<%d;"
        "insert into district select w, k, 0, 0 from warehouse, n where k<%d;"
        "insert into customer select w, d, k, hex(randomblob(12)), 0 from district, n where k<%d;"
        "insert into item select k, 1+k%%100 from n where k<%d;"
        "insert into stock select w, i, 50 from warehouse, item;"
        "commit;",
        ITEMS, WAREHOUSES, DISTRICTS, CUSTOMERS, ITEMS);
    check(sqlite3_exec(db, fill, 0, 0, 0), db, "fill");
    sqlite3_close(db);
}

int main(int count, char **words) {
    if (count == 3 && strcmp(words[1], "create") == 0) {
        file = words[2];
        create();
        return 0;
    }
    if (count != 5 || strcmp(words[1], "run") != 0) {
        fprintf(stderr, "usage: %s create FILE | run FILE THREADS SECONDS\n", words[0]);
        return 2;
    }
    file = words[2];
    int threads = atoi(words[3]), seconds = atoi(words[4]);
    pthread_t ids[threads];
    for (int thread = 0; thread < threads; thread++)
        pthread_create(&ids[thread], 0, work, (void *)(size_t)(thread + 1));
    nanosleep(&(struct timespec){.tv_sec = seconds}, 0);
    over = 1;
    for (int thread = 0; thread < threads; thread++) pthread_join(ids[thread], 0);
    printf("%lu transactions\n", transactions);
    return 0;
}
