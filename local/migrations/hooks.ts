/** The project's functions that the auth worker calls (contract 2.14, 3.8). */
import type pg from 'pg'

/** Each hook with the types of its parameters and of its result. */
const hooks = {
  user_created: { parameters: 'text, text, jsonb', result: 'void' },
  token_claims: { parameters: 'text', result: 'jsonb' },
} as const

interface Found {
  name: keyof typeof hooks
  parameters: string
  result: string
  is_definer: boolean
  may_execute: boolean
}

/**
 * The auth worker calls a hook by its exact form. A function of that name and another form would never run, and one that is not
 * SECURITY DEFINER would run with the rights of the auth worker.
 *
 * @throws Error that names the function and says what to write.
 */
export async function requireSoundHooks(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Found>(
    `select proname as name, oidvectortypes(proargtypes) as parameters,
       format_type(prorettype, null) as result, prosecdef as is_definer,
       has_function_privilege('auth_admin', pg_proc.oid, 'execute') as may_execute
     from pg_proc where pronamespace = 'public'::regnamespace and proname = any ($1)`,
    [Object.keys(hooks)],
  )
  for (const found of rows) {
    const { parameters, result } = hooks[found.name]
    const form = `public.${found.name}(${parameters}) returns ${result}`
    if (found.parameters !== parameters || found.result !== result) {
      throw new Error(
        `the function public.${found.name}(${found.parameters}) returns ${found.result} is no hook: the auth worker calls ${form}. Nothing was migrated`,
      )
    }
    if (!found.is_definer) {
      throw new Error(
        `the hook public.${found.name} must be SECURITY DEFINER, and set its search_path: else it runs with the rights of the auth worker. Nothing was migrated`,
      )
    }
    if (!found.may_execute) {
      throw new Error(
        `the auth worker may not execute the hook public.${found.name}: grant execute on function public.${found.name}(${parameters}) to auth_admin. Nothing was migrated`,
      )
    }
  }
}
