import { Module } from '@stack/backend'
import { LimitsModule } from '../limits/module.ts'
import { SessionsModule } from '../sessions/module.ts'
import { UsersModule } from '../users/module.ts'
import { AnonymousController } from './routes.ts'

/** Sessions of guests: verified, and not signed in (contract 3.4). */
@Module({ imports: [LimitsModule, SessionsModule, UsersModule], controllers: [AnonymousController] })
export class AnonymousModule {}
