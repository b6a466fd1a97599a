-- Expressions over the table of queries.py, one a line, in groups of a subject.

-- literals
1
3000000000
12345678901234567890
1.50
0.05
.5
1e2
1.5e-3
5L
5S
5Y
1.5D
2F
3BD
1.25BD
-5
-3000000000
- 1.5
'it''s'
'a\nb'
'a\\b'
r'a\nb'
"text"
'a' 'b'
true
DATE '2024-02-29'
TIMESTAMP '2024-02-29 12:30:00'
TIMESTAMP_NTZ '2024-02-29 12:30:00'

-- sums
i + 1
i + b
tiny + 1Y
tiny + 1
i - x
f + i
f + f
f * x
d + 1
d - e
d + b
d * d
d * 2
e * e
1 - d
d + f
x + d
-i
-d
-x
+i
i % 3
b % i
d % 2
x % 2
-f
(1 - d) * (1 + d)
e + 12345678901234567890
i * 1000L
mod(i, 3)
pmod(i, 3)

-- quotients
i / 2
i / b
f / f
d / 2
d / e
e / 3
x / 2
2 / x
i / 2.0
d / x
i DIV 2
b DIV 3
d DIV 2
7 / 2
7 DIV 2
-7 / 2
i * 3 DIV 2
1.0 / 3
sum(d) OVER () / 3

-- comparisons
i = 7
i = b
i < 2.5
d > 1
d = e
x >= d
f = 1.5
n = 12
n > 5
n = '12'
day > '2000-01-01'
at >= '2000-01-01'
at > day
local = at
i <=> NULL
i == 2
i <> 2
i != 2
NOT i = 2
!(i = 2)
i IS NULL
i IS NOT NULL
flag IS TRUE
flag IS NOT FALSE
flag AND i > 0
flag OR NULL
i BETWEEN 1 AND d
i NOT BETWEEN 1 AND 5
i IN (1, 2, 7)
i IN (1.5, 7)
n IN (12, 40)
i NOT IN (7, NULL)
i IS DISTINCT FROM b
day IN (DATE '2024-01-31')
s IN ('a', s)
day = '2024-01-31'
i = '7'
d IN (1.5, 2)

-- alternatives
CASE WHEN i > 0 THEN i ELSE b END
CASE i WHEN 7 THEN 'x' WHEN 2 THEN 'y' END
CASE WHEN flag THEN d ELSE 1 END
CASE WHEN flag THEN 1 ELSE 2.5 END
CASE WHEN flag THEN NULL ELSE s END
coalesce(i, b)
coalesce(i, 0)
coalesce(d, 1.5)
nvl(s, 'none')
ifnull(x, i)
nullif(i, 7)
nullif(d, 0)
nvl2(i, 'a', 'b')
if(flag, 1, 2L)
if(NULL, 1, 2)
if(i > 0, d, e)
greatest(i, b)
least(i, x, d)
greatest(s, n)
coalesce(n, i)
isnull(i)
isnotnull(i)
CASE WHEN i = 7 THEN DATE '2024-01-01' ELSE at END
if(flag, s, n)

-- casts
CAST(i AS STRING)
CAST(x AS STRING)
CAST(d AS STRING)
CAST(day AS STRING)
CAST(at AS STRING)
CAST(flag AS STRING)
CAST(n AS INT)
CAST(n AS DOUBLE)
CAST(n AS DECIMAL(5, 1))
CAST(i AS BIGINT)
CAST(b AS DECIMAL(20, 2))
CAST(x AS FLOAT)
CAST(i AS DECIMAL)
CAST(d AS INT)
CAST(x AS BIGINT)
CAST(flag AS INT)
CAST(i AS BOOLEAN)
CAST(at AS DATE)
CAST(day AS TIMESTAMP)
CAST('2024-01-05' AS DATE)
CAST('2024-01-05 10:00:00' AS TIMESTAMP)
CAST(local AS TIMESTAMP)
CAST(at AS TIMESTAMP_NTZ)
TRY_CAST(s AS INT)
TRY_CAST(n AS INT)
n::INT
CAST(1 AS LONG)
CAST(tiny AS SHORT)
CAST(tiny AS BYTE)
date(at)
int(x / 1e6)
string(i)
double(n)
CAST(i AS DOUBLE)
CAST(NULL AS INT)
CAST(d AS DECIMAL(12, 4))
CAST(e AS DECIMAL(14, 2))
CAST(at AS BIGINT)

-- texts
upper(s)
lower(s)
length(s)
char_length(n)
trim(s)
ltrim(s)
rtrim(s)
trim(BOTH 'H' FROM s)
ltrim('H', s)
substring(s, 2, 3)
substring(s, 0, 2)
substring(s, -3, 2)
substr(s, 3)
substring(s FROM 2 FOR 3)
left(s, 3)
right(s, 3)
lpad(n, 5, '*')
rpad(n, 5)
repeat(n, 2)
replace(s, 'l', 'L')
replace(s, 'l')
reverse(s)
concat(s, n)
concat(s, i, '!')
concat(s, NULL)
concat_ws('-', s, n)
s || n
s || '!' || i
instr(s, 'o')
locate('o', s)
locate('o', s, 6)
position('o' IN s)
initcap(s)
translate(s, 'lo', '01')
ascii(s)
chr(65)
s LIKE 'H%'
s LIKE 'a\%b%'
s LIKE 'a!%b%' ESCAPE '!'
s NOT LIKE '%b%'
s ILIKE 'h%'
s RLIKE 'l+o'
s NOT RLIKE '^a'
regexp_replace(s, 'o', '0')
regexp_extract(s, '(\\w+) (\\w+)', 2)
regexp_like(s, 'W')
startswith(s, 'H')
endswith(s, 'd')
contains(s, 'lo')
split_part(s, ' ', 2)
substring_index(s, ' ', 1)
md5(s)
sha2(s, 256)
crc32(s)
soundex(s)
levenshtein(s, n)
overlay(s, 'XX', 2)
space(3)
upper(i)
length(d)

-- numbers
abs(i)
abs(d)
abs(x)
sqrt(abs(i))
power(2, i % 5)
pow(x / 1e6, 2)
exp(tiny / 10)
ln(abs(i))
log10(abs(i))
log2(abs(i))
ceil(x)
floor(x)
ceil(d)
floor(d)
ceiling(i)
floor(f)
round(x, 2)
round(d, 1)
round(x)
round(i, -1)
round(e)
bround(d, 1)
sign(i)
signum(x)
sin(x)
cos(i)
atan2(x, i)
degrees(x)
radians(i)
cbrt(x)
factorial(5)
pi()
e()
isnan(x)
nanvl(x, 0)
i & 3
i | b
i ^ 2
hypot(i, b)
rint(x)
bit_count(i)
negative(i)

-- dates
year(day)
month(at)
day(day)
dayofmonth(day)
quarter(day)
weekofyear(day)
dayofweek(day)
weekday(day)
dayofyear(day)
hour(at)
minute(at)
second(at)
hour(local)
EXTRACT(YEAR FROM day)
EXTRACT(MONTH FROM at)
EXTRACT(SECOND FROM at)
EXTRACT(DAY FROM day)
EXTRACT(WEEK FROM day)
EXTRACT(HOUR FROM at)
date_add(day, 5)
date_sub(day, i % 5)
day + 5
day - 5
5 + day
day - INTERVAL 1 DAY
day - INTERVAL '-3' DAYS
day + INTERVAL 1 WEEK
day + INTERVAL '2 weeks 1 day'
day + INTERVAL 1 DAY 0 HOURS
day + INTERVAL 1 YEAR 2 MONTHS
at + INTERVAL 1 DAY 2 HOURS
at - INTERVAL '1 02:03:04.5' DAY TO SECOND
at - INTERVAL '-1-2' YEAR TO MONTH
local + INTERVAL '10:30' HOUR TO MINUTE
INTERVAL -1.5 SECONDS + at
at + INTERVAL 5 MILLISECONDS
date_part('YEAR', day)
EXTRACT(DOW FROM day)
day + INTERVAL '90' DAYS
day + INTERVAL 1 MONTH
day - INTERVAL 2 YEARS
day + INTERVAL 3 HOURS
at + INTERVAL 1 DAY
at - INTERVAL 30 MINUTES
at + INTERVAL 1 MONTH
local + INTERVAL 1 DAY
datediff(day, '2024-01-01')
add_months(day, 1)
months_between(day, '2024-01-15')
last_day(day)
next_day(day, 'MON')
trunc(day, 'MM')
trunc(day, 'YEAR')
date_trunc('MONTH', at)
date_trunc('HOUR', at)
date_trunc('DAY', day)
date_format(at, 'yyyy-MM-dd HH:mm')
to_date(at)
to_date('2024-02-03')
to_date('03/02/2024', 'dd/MM/yyyy')
to_timestamp('2024-02-03 04:05:06')
unix_timestamp(at)
from_unixtime(i)
make_date(2024, 2, 29)
unix_date(day)
day = to_date('2024-01-31')
year('2024-05-06')
CAST(day - DATE '2024-01-01' AS STRING) IS NULL
at - day

-- aggregates over windows
sum(i) OVER (PARTITION BY flag ORDER BY id)
avg(d) OVER (ORDER BY id)
count(*) OVER ()
max(s) OVER (PARTITION BY flag)
row_number() OVER (ORDER BY id)
rank() OVER (ORDER BY flag)
dense_rank() OVER (ORDER BY flag DESC)
ntile(2) OVER (ORDER BY id)
percent_rank() OVER (ORDER BY id)
cume_dist() OVER (ORDER BY id)
lag(i) OVER (ORDER BY id)
lead(s, 2) OVER (ORDER BY id)
lag(i, 1, 0) OVER (ORDER BY id)
first_value(i) OVER (ORDER BY id)
last_value(i) OVER (ORDER BY id)
first(s) OVER (ORDER BY id)
sum(d) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)
nth_value(i, 2) OVER (ORDER BY id)
stddev(i) OVER ()
min(x) OVER (ORDER BY id ROWS 2 PRECEDING)
sum(i) OVER (ORDER BY flag RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)

-- aggregates
count(*)
count(1)
count(i)
count(DISTINCT flag)
count(DISTINCT flag, i)
sum(i)
sum(tiny)
sum(b)
sum(x)
sum(f)
sum(d)
sum(e)
sum(DISTINCT tiny)
avg(i)
avg(d)
avg(e)
avg(x)
mean(f)
min(s)
max(day)
min(at)
max(flag)
stddev(i)
stddev_samp(d)
stddev_pop(x)
variance(i)
var_pop(i)
corr(i, x)
covar_samp(i, x)
covar_pop(i, x)
median(i)
bool_and(flag)
every(flag)
bool_or(flag)
any(flag)
count_if(i > 0)
sum(i) FILTER (WHERE flag)
bit_and(i)
bit_or(i)
sum(CASE WHEN flag THEN d ELSE 0 END)
sum(d * (1 - d))
avg(d) / 2
100 * sum(d) / sum(e)
sum(i) / count(*)
max(i) - min(i)
approx_count_distinct(i)
sum(i + 0.5)
