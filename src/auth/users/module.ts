import { Module } from '@stack/backend'
import { Users } from './rows.ts'

/** The users of the environment. */
@Module({ providers: [Users] })
export class UsersModule {}
