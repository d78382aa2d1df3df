/** The limits of an account's plan at Cloudflare, said before anything is uploaded. */
import { type FileSize, kib } from '../../build/emit/report.ts'

export type Plan = 'paid' | 'free'

/** Largest compressed size of a worker, in KiB. */
export const planSizeKib: Record<Plan, number> = { free: 3 * 1024, paid: 10 * 1024 }

/** Longest time in which a bundle is loaded, in milliseconds of cpu. The platform refuses a slower one. */
const startupMs = 1_000

/** Share of that time from which a warning is due: the machines of the platform may be this much slower than a developer's. */
const startupShare = 0.4

/** Cloudflare's code for a setting of cpu time on Workers Free. */
const freePlanCode = '[code: 100328]'

/** @returns sentences about the plan that a person must know before the upload. */
export function planNotes(plan: Plan): string[] {
  return plan === 'free'
    ? [
        '! Workers Free gives a request 10 ms of cpu, and a password hash (argon2id) takes more: sign-up and sign-in with a password will fail',
      ]
    : [
        'Workers Paid is needed: a password hash (argon2id) takes more than the 10 ms of cpu of Workers Free. --plan free deploys without passwords',
      ]
}

/** @returns the reason of a failed upload in words for the person, where the plan is the reason. */
export function planFailure(message: string): string | undefined {
  if (!message.includes(freePlanCode)) return undefined
  return 'this Cloudflare account has Workers Free, whose 10 ms of cpu a request fit no password hash (argon2id): every sign-in with a password would fail. Change to Workers Paid, or push with --plan free for a stack whose users sign in without passwords'
}

export function compressed(sizes: readonly FileSize[]): number {
  return sizes.reduce((sum, { gzip }) => sum + gzip, 0)
}

/** @returns the reason why the plan admits no worker of this size. */
export function sizeFault(worker: string, sizes: readonly FileSize[], plan: Plan): string | undefined {
  const all = compressed(sizes)
  if (all <= planSizeKib[plan] * 1024) return undefined
  const largest = [...sizes]
    .sort((a, b) => b.gzip - a.gzip)
    .slice(0, 3)
    .map(({ name, gzip }) => `${name} ${kib(gzip)}`)
  return `the ${worker} worker has ${kib(all)} compressed, and Workers ${plan === 'free' ? 'Free' : 'Paid'} admits ${planSizeKib[plan]} KiB. The largest files are ${largest.join(', ')}`
}

/** @param measured milliseconds on this machine. */
export function startupNote(worker: string, measured: number | { reason: string }): string {
  if (typeof measured !== 'number') return `! the start of the ${worker} worker was not measured: ${measured.reason}`
  const text = `the ${worker} worker is loaded in ${measured} ms of cpu on this machine, and Cloudflare admits ${startupMs} ms`
  return measured > startupMs * startupShare ? `! ${text}: import large packages on demand` : text
}
