/** `@Cron`: scheduled work (contract 2.12). The build reads decorators and erases them (contract 2.1). */
import { unbuilt } from './errors.ts'

/**
 * Runs the method on a schedule. The class is a provider: it has `@Injectable`, and a module lists it in `providers`. The
 * method takes no parameters, and what it returns is dropped. A method may have several schedules.
 *
 * Each run has a request id and transactions of its own. There is no signed-in user, so the method reaches users' rows through
 * `Database.$asService()`. When the method returns, both transactions commit. When it throws, both roll back, the log says
 * that it failed and why, and other methods with the same schedule run all the same.
 *
 * The local stack runs it on time, and `stack cron run <Class.method>` at once. On the platform the build's
 * `.stack/bindings.toml` has the `[triggers]` that `wrangler.toml` needs. The platform may start a run twice in rare cases, so
 * a run should change nothing that an earlier one has done already. A transaction may take 30 s (contract 5.7).
 *
 * @param _schedule minute, hour, day of the month, month and day of the week, in UTC, as Cloudflare's cron triggers read them:
 * `*`, values, ranges, lists, steps, and names like `MON` and `JAN` in any case. Numbers of days of the week begin with 1 for
 * Sunday. `L`, `LW`, `15W`, `FRIL` and `MON#2` choose one day of the month. Where both days are given, either one suffices.
 *
 * @example
 * ```ts
 * @Injectable()
 * export class Sessions {
 *   @Cron('30 * * * *')
 *   async prune() {
 *     const ended = await Database.$asService().sql`delete from carts where touched_at < now() - interval '1 day' returning id`
 *     Log.info('abandoned carts are deleted', { count: ended.length })
 *   }
 *
 *   @Cron('0 6 * * MON-FRI')
 *   @Cron('0 9 * * SAT')
 *   async report() {
 *     await Database.$asService().sql`insert into reports (day) values (current_date) on conflict do nothing`
 *   }
 * }
 * ```
 */
export function Cron(
  _schedule: string,
): <F extends () => unknown>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<F>) => void {
  return unbuilt('Cron')
}
