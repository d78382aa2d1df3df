import { Module } from '@stack/backend'
import { LoginRepair } from './repair.ts'

/** The database logins of both workers. */
@Module({ providers: [LoginRepair] })
export class LoginsModule {}
