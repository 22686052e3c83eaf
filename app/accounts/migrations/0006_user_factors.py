"""How many rows of second factors each person has; sealed from now on, see app/accounts/factors.py."""

from django.db import migrations, models

COUNT = "UPDATE accounts_user u SET factors = (SELECT count(*) FROM mfa_authenticator a WHERE a.user_id = u.id)"


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_identity_seals"),
        ("mfa", "0003_authenticator_type_uniq"),
    ]

    operations = [
        migrations.AddField("User", "factors", models.PositiveSmallIntegerField(default=0, db_default=0)),
        migrations.RunSQL(COUNT, migrations.RunSQL.noop),
    ]
