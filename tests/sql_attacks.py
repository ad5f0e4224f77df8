"""SQL that must not run, whoever asks: against the guard, the locks, and a running server.

``{file}`` is the store itself, ``{folder}`` the folder that it lies in; a file ``canary.txt`` there and a variable
``CANARY`` of the environment are what nobody may see.
"""

from __future__ import annotations

ATTACKS = r"""
copy (select 1) to '{file}' (use_tmp_file false)
copy (select 1) to '{file}.wal' (format csv)
copy word to '{folder}/stolen.csv'
copy (select 1) to '/dev/stdout'
explain analyze copy (select 1) to '{file}' (use_tmp_file false)
explain select 1
select * from read_blob('{file}')
select * from read_text('/etc/passwd')
select * from read_csv('/etc/passwd')
select * from read_csv_auto('/etc/passwd')
select * from read_json('/etc/passwd')
select * from read_parquet('{folder}/x.parquet')
select * from '/etc/passwd'
from '/etc/passwd.csv'
select * from "{file}"
select * from glob('/*')
select * from sniff_csv('/etc/passwd')
select * from parquet_metadata('x')
select * from parquet_scan('x')
attach '{folder}/other.duckdb' as other
attach ':memory:' as other
detach store
use memory
install httpfs
load httpfs
force install httpfs from 'http://localhost'
set threads = 1
set disabled_filesystems = ''
set lock_configuration = false
reset disabled_filesystems
pragma database_list
pragma version
call pragma_version()
call enable_logging(storage = 'file', storage_path = '{folder}')
select * from enable_logging()
select * from duckdb_logs()
select getenv('HOME')
select current_setting('temp_directory')
select * from duckdb_settings()
select * from duckdb_settings
select * from duckdb_secrets()
select * from which_secret('s3://x', 's3')
create secret (type s3, key_id 'x', secret 'y')
select * from pandas_scan(0)
select * from pandas_scan(null)
select * from arrow_scan(0, 0, 0)
select * from python_map_function()
select * from query('select 1')
select * from query_table('word')
select * from query_table(['word'])
select * from seq_scan('word')
select json_execute_serialized_sql('x')
select * from json_execute_serialized_sql(json_serialize_sql('select 1'))
select json_serialize_plan('select 1')
select nextval('x')
select setseed(0.5)
select write_log('x')
select sleep_ms(100000)
select pg_sleep(100)
select getvariable('x')
select current_query()
select * from pragma_storage_info('word')
select * from information_schema.tables
select * from pg_catalog.pg_tables
select * from system.information_schema.tables
select * from sqlite_master
select * from store.main.word
select * from duckdb_tables
select * from word at (version => 1)
select 1; select 2
select 1; drop table word
select 1;; copy word to '{folder}/x'
pivot word on form using count(*)
select * from (pivot word on form using count(*))
unpivot word on id into name a value b
show tables
describe word
summarize word
select * from (describe word)
insert into word values (1, 'x')
update word set form = 'x'
delete from word
truncate word
merge into word using word w on false when matched then delete
drop table word
alter table word add column x integer
create table x (y integer)
create temp table x as select 1
create view x as select 1
create macro x() as 1
create or replace function abs(x) as 1
with x as (insert into word values (1, 'x') returning *) select * from x
checkpoint
force checkpoint
vacuum
analyze
begin
commit
prepare x as select 1
execute x
export database '{folder}/export'
import database '{folder}/export'
comment on table word is 'x'
select * from (with hidden as (select 1) select * from hidden), hidden
with b as (select * from a), a as (select 1) select * from b
with "/etc/passwd" as (select 1), b as (select 1) select * from b, (select * from "/etc/hosts")
with duckdb_tables as (select * from duckdb_tables) select * from duckdb_tables
with recursive duckdb_databases as (select path from duckdb_databases union all select * from duckdb_databases where false) select * from duckdb_databases
with recursive duckdb_logs(x) using key (x) as (select message from duckdb_logs union select x from duckdb_logs) select * from duckdb_logs
with recursive sqlite_master as (select sql from sqlite_master union select 'x' union select sql from sqlite_master) select * from sqlite_master
with recursive "{file}" as (select 1 from "{file}" union all select 1 from "{file}") select * from "{file}"
with recursive duckdb_views as (with x as (select sql from duckdb_views) select * from x union all select sql from duckdb_views) select * from duckdb_views
with recursive duckdb_views as (select sql from duckdb_views) select * from duckdb_views
with recursive a as (select 1 union all select * from a), duckdb_views as (select view_name from duckdb_views) select * from duckdb_views
with "ducKdb_databases" as (select 1) select * from duckdb_databases
with a as (with duckdb_tables as (select 1) select * from duckdb_tables) select * from a, duckdb_tables
with duckdb_tables as (select 1) select * from main.duckdb_tables
select * from (with duckdb_tables as (select 1) select 1) positional join duckdb_tables
select * from (with duckdb_tables as (select 1) select 1) duckdb_tables, lateral (from duckdb_tables)
(with duckdb_tables as (select 1 as x) select x from duckdb_tables) union all by name (from duckdb_tables)
select * from word where id in (select length(content) from read_text('/etc/passwd'))
select * from word order by (select count(*) from read_blob('{file}'))
select (select getenv('HOME'))
select list_transform([1], lambda x: getenv('HOME'))
select count(*) filter (where getenv('HOME') = '') from word
select sum(1) over (order by getenv('HOME'))
select * from range((select count(*) from read_text('/etc/passwd')))
select * from word join read_text('/etc/passwd') on true
select * from word union all select 1, content from read_text('/etc/passwd')
select * from word limit (select count(*) from read_text('/etc/passwd'))
select * replace (getenv('HOME') as form) from word
with recursive r as (select 1 union all select * from read_text('/etc/passwd')) select * from r
select case when true then getenv('HOME') end
select system.main.getenv('HOME')
values (getenv('HOME'))
copy word to '{folder}/stolen.parquet' (format parquet)
copy word from '/etc/passwd'
copy (select * from read_text('/etc/passwd')) to '{folder}/stolen.txt'
copy (select 1) to '{folder}/x' (format csv, partition_by (a), overwrite true)
copy (select 1) to '{folder}/x' (format json, per_thread_output true)
copy from database store to memory
explain analyze select * from read_text('/etc/passwd')
explain (format json) copy (select 1) to '{file}' (use_tmp_file false)
COPY/**/(select 1)/**/TO/**/'{file}'/**/(USE_TMP_FILE/**/false)
/* a remark */ copy (select 1) to '{file}' -- (select 1)
-- select 1
select 1 /* ; */; copy (select 1) to '{file}'
select 1 ;/**/; select 2
select $$ ; $$; select 2
ｓｅｌｅｃｔ 1; ｄｒｏｐ table word
select * from "read_text"('/etc/passwd')
select * from READ_TEXT/**/('/etc/passwd')
select * from main.read_text('/etc/passwd')
select * from system.main.read_text('/etc/passwd')
select * from r​ead_text('/etc/passwd')
select * from read_ndjson_objects('/etc/passwd')
select * from read_json_objects_auto('/etc/passwd')
select * from parquet_schema('{folder}/x')
select * from parquet_kv_metadata('{folder}/x')
select * from parquet_file_metadata('{folder}/x')
select * from sqlite_scan('{folder}/x', 'y')
select * from iceberg_scan('{folder}/x')
select * from st_read('{folder}/x')
select * from read_duckdb('{file}')
select * from arrow_scan_dumb(0, 0, 0)
select * from "/etc/passwd.csv"
select * from '{file}'
select * from 'http://127.0.0.1:1/x.csv'
select * from 's3://bucket/x.parquet'
select * from 'file:///etc/passwd'
select * from '/proc/self/environ'
select * from read_text('/proc/self/environ')
select * from read_blob(['/etc/passwd'])
select content from read_text('{folder}/canary.txt')
from read_text('{folder}/canary.txt')
from (from read_text('{folder}/canary.txt'))
table "{folder}/canary.txt"
select "getenv"('CANARY')
select 'CANARY'.getenv()
select main.getenv('CANARY')
select try(getenv('CANARY'))
select getenv('CANARY') over ()
select [getenv(x) for x in ['CANARY']]
select list_apply(['CANARY'], lambda x: getenv(x))
select array(select content from read_text('{folder}/canary.txt'))
select exists (select * from read_text('{folder}/canary.txt'))
select 1 = any (select length(content) from read_text('{folder}/canary.txt'))
select * from word where form in (getenv('CANARY'))
select * from word where form like getenv('CANARY')
select * from word where form between getenv('CANARY') and 'z'
select * from word order by getenv('CANARY')
select 1 from word group by getenv('CANARY')
select 1 from word group by all having min(getenv('CANARY')) = ''
select id from word qualify row_number() over (order by getenv('CANARY')) = 1
select distinct on (getenv('CANARY')) id from word
select id from word limit length(getenv('CANARY'))
select id from word offset length(getenv('CANARY'))
select first(id order by getenv('CANARY')) from word
select quantile_cont(0.5) within group (order by length(getenv('CANARY'))) from word
select sum(id) over (order by id rows between length(getenv('CANARY')) preceding and current row) from word
select sum(id) over w from word window w as (partition by getenv('CANARY'))
select lag(id, 1, length(getenv('CANARY'))) over () from word
select * from word a join word b on a.form = getenv('CANARY')
select * from word, lateral (select getenv('CANARY'))
select * from (values (getenv('CANARY')))
select a: getenv('CANARY')
select cast(getenv('CANARY') as integer)
select interval (getenv('CANARY')) day
select getenv('CANARY') collate nocase
select array_slice([1], 1, length(getenv('CANARY')))
select map [getenv('CANARY')] [1]
select columns(c -> c = getenv('CANARY')) from word
select * exclude (id) replace (getenv('CANARY') as form) from word
with x as materialized (select getenv('CANARY')) select * from x
with recursive r(i) using key (i) as (select 1 union all select length(getenv('CANARY')) from r) select * from r
select * from generate_series(1, length(getenv('CANARY')))
select unnest([getenv('CANARY')])
select current_setting('disabled_filesystems')
select current_database(), current_user
select version()
select pg_read_file('/etc/passwd')
select * from pragma_database_list
select * from pragma_user_agent()
select * from duckdb_databases()
select * from duckdb_functions()
select * from duckdb_extensions()
select * from duckdb_temporary_files()
select * from duckdb_memory()
select * from duckdb_variables()
select * from duckdb_log_contexts()
select * from duckdb_prepared_statements()
select * from pg_catalog.pg_class
select * from information_schema.columns
select * from temp.word
select * from memory.word
select * from alembic_version_
select * from summary(table word)
select * from test_all_types()
select * from test_vector_types(null)
select * from repeat('x', 10)
select * from unnest_rewriter(1)
select * from checkpoint()
select * from force_checkpoint()
select * from truncate_duckdb_logs()
select * from enable_profiling('json')
select enable_logging('x')
pragma enable_profiling
pragma memory_limit = '100GB'
pragma enable_object_cache
set memory_limit = '100GB'
set global threads = 100
set session home_directory = '/'
set variable x = 1
reset memory_limit
reset all
use store
load '/tmp/x.duckdb_extension'
update extensions
create persistent secret s (type s3)
create type x as enum ('a')
create schema x
create sequence x
create index x on word (form)
create table x as select * from word
create temp macro getenv2(x) as getenv(x)
alter table word rename to sentence_
drop view v_tokens
insert or replace into word select * from word
with d as (delete from word returning *) select * from d
with u as (update word set form = 'x' returning *) select * from u
begin transaction read write
rollback
abort
deallocate x
execute immediate 'select 1'
call duckdb_tables()
call pragma_storage_info('word')
call checkpoint()
attach '{file}' as again (read_write)
attach 'http://127.0.0.1:1/x' as other
attach '{folder}/other.sqlite' (type sqlite)
detach database if exists store
export database '{folder}/export' (format parquet)
import database '/etc'
vacuum analyze word
refresh materialized view x
kill 1
\! touch {folder}/x
.shell touch {folder}/x
.read /etc/passwd
""".strip().splitlines()
