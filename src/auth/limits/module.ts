import { Module } from '@stack/backend'
import { Limits } from './rows.ts'

/** How often may be tried: counted in Postgres, so that all isolates count together. */
@Module({ providers: [Limits] })
export class LimitsModule {}
