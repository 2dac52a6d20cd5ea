-- Two accounts instead of one: da_owner makes and changes the tables (migrate), da works with what is in them. Whoever
-- gets hold of the platform's account can then neither drop a table nor take the guard off the audit log.
--
--   psql --dbname da --file deploy/postgresql/roles.sql      by a superuser of PostgreSQL, in the new, empty database
--   psql --dbname da --command '\password da_owner'          and the same for da
--
-- Then DATABASE_URL names da_owner for `manage.py migrate` and `manage.py restore`, and da for everything else.

CREATE ROLE da_owner LOGIN;
CREATE ROLE da LOGIN;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO da_owner;
GRANT USAGE ON SCHEMA public TO da;

ALTER DEFAULT PRIVILEGES FOR ROLE da_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO da;
ALTER DEFAULT PRIVILEGES FOR ROLE da_owner IN SCHEMA public
    GRANT SELECT, USAGE ON SEQUENCES TO da;
