import { Module } from '@stack/backend'
import { KeySetController } from './routes.ts'
import { SigningKeys } from './rows.ts'

/** The keys that sign access tokens, and the key set that verifiers fetch. */
@Module({ controllers: [KeySetController], providers: [SigningKeys] })
export class KeysModule {}
