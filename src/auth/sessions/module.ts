import { Module } from '@stack/backend'
import { KeysModule } from '../keys/module.ts'
import { RefreshController } from './routes.ts'
import { Sessions } from './rows.ts'
import { Tokens } from './tokens.ts'

/** Login sessions, and the access and refresh tokens that belong to them. */
@Module({ imports: [KeysModule], controllers: [RefreshController], providers: [Sessions, Tokens] })
export class SessionsModule {}
