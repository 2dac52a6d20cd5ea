-- Two accounts instead of one: da_owner creates and changes the tables (migrate), da only uses them. An attacker with the
-- platform's account can then neither drop a table nor remove the protection of the audit log.
--
--   psql --dbname da --file deploy/postgresql/roles.sql      as a PostgreSQL superuser, in the new, empty database
--   psql --dbname da --command '\password da_owner'          and the same for da
--
-- Then use da_owner in DATABASE_URL for `manage.py migrate` and `manage.py restore`, and da for everything else.

CREATE ROLE da_owner LOGIN;
CREATE ROLE da LOGIN;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO da_owner;
GRANT USAGE ON SCHEMA public TO da;

ALTER DEFAULT PRIVILEGES FOR ROLE da_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO da;
ALTER DEFAULT PRIVILEGES FOR ROLE da_owner IN SCHEMA public
    GRANT SELECT, USAGE ON SEQUENCES TO da;
