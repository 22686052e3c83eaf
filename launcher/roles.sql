-- The two roles and the database. Run once as a superuser, with the three names below in the environment:
--     psql -f launcher/roles.sql
-- The owner role runs migrations. The app role runs the portal: it may read and write rows and owns nothing,
-- so what a migration takes away from it (the ledger does) stays away. Running it again is harmless.
\set ON_ERROR_STOP on
\getenv database SLOTLIGHT_DATABASE
\getenv owner_password SLOTLIGHT_OWNER_PASSWORD
\getenv app_password SLOTLIGHT_APP_PASSWORD

SELECT format('CREATE ROLE %I', name) FROM (VALUES ('slotlight_owner'), ('slotlight_app')) AS wanted(name)
 WHERE name NOT IN (SELECT rolname FROM pg_roles) \gexec
ALTER ROLE slotlight_owner LOGIN PASSWORD :'owner_password';
ALTER ROLE slotlight_app LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD :'app_password';

SELECT format('CREATE DATABASE %I OWNER slotlight_owner', :'database')
 WHERE :'database' NOT IN (SELECT datname FROM pg_database) \gexec
\connect :"database"
ALTER DATABASE :"database" OWNER TO slotlight_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE slotlight_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO slotlight_app;
ALTER DEFAULT PRIVILEGES FOR ROLE slotlight_owner GRANT USAGE, SELECT ON SEQUENCES TO slotlight_app;
