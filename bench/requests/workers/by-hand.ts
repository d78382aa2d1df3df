/** The signed-in route written by hand: hono, jose, and as many other routes as the project has. */
import { Hono } from 'hono'
import { profile } from '../profile.ts'
import { type AuthEnv, answerHeaders, claimsOf } from './signed-in.ts'

/** Replaced by the bundler. */
declare const otherRoutes: { method: string; path: string }[]

const app = new Hono<{ Bindings: AuthEnv }>()

app.get('/plain', (context) => context.json({ ok: true }))

app.use(async (context, next) => {
  const claims = await claimsOf(context.req.header('authorization'), context.env)
  return claims ? next() : context.json({ error: 'unauthorized' }, 401, answerHeaders())
})

for (const { method, path } of otherRoutes) app.on(method, path, (context) => context.json({ at: path }))

app.get('/profile', (context) => context.json(profile, 200, answerHeaders()))

export default app
