import { Database, Injectable } from '@stack/backend'

/** Restores the database logins, for workers whose connections do not open any more (contract 5.7). */
@Injectable()
export class LoginRepair {
  /** Called by RPC over a service binding, and never over HTTP. Repairing sound logins changes nothing. */
  async repairLogins(): Promise<void> {
    await Database.$asService().sql`select auth.repair_logins()`
  }
}
