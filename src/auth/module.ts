/** The auth module: an ordinary project, compiled by the same build. This file is the list of what is in it. */
import { Module } from '@stack/backend'
import { KeySetController } from './key-set.routes.ts'
import { LoginRepair } from './login-repair.ts'
import { RolesController } from './roles.routes.ts'
import { Roles } from './roles.rows.ts'
import { Sessions } from './sessions.rows.ts'
import { SettingsController } from './settings.routes.ts'
import { SettingsRows } from './settings.rows.ts'
import { SignInController } from './sign-in.routes.ts'
import { SigningKeys } from './signing-keys.rows.ts'
import { TokensController } from './tokens.routes.ts'
import { Tokens } from './tokens.ts'
import { Users } from './users.rows.ts'
import { VaultMirror } from './vault.mirror.ts'
import { VaultController } from './vault.routes.ts'
import { VaultRows } from './vault.rows.ts'

@Module({
  controllers: [
    KeySetController,
    RolesController,
    SettingsController,
    SignInController,
    TokensController,
    VaultController,
  ],
  providers: [LoginRepair, Roles, Sessions, SettingsRows, SigningKeys, Tokens, Users, VaultMirror, VaultRows],
})
export class AuthModule {}
