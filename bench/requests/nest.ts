/**
 * NestJS on fastify with passport-jwt, as its documentation shows, in a Node process of its own. Decorators are called as
 * functions, so that no compiler is needed.
 */
import 'reflect-metadata'
import { Controller, Delete, Get, Module, Post, Put, UseGuards } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AuthGuard, PassportStrategy } from '@nestjs/passport'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { ExtractJwt, Strategy } from 'passport-jwt'
import type { NestOptions } from './nest-process.ts'
import { profile } from './profile.ts'

const options = JSON.parse(process.argv[2]!) as NestOptions

class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKey: options.pem,
      algorithms: ['ES256'],
      issuer: options.issuer,
      audience: options.audience,
    })
  }

  validate({ sub }: { sub: string }) {
    return { id: sub }
  }
}

class PlainController {
  plain() {
    return { ok: true }
  }
}

class ProfileController {
  show() {
    return profile
  }
}

class OtherController {}

const methods: Record<string, (path: string) => MethodDecorator> = { GET: Get, POST: Post, PUT: Put, DELETE: Delete }

function route(controller: { prototype: object }, name: string, method: string, path: string): void {
  methods[method]!(path)(controller.prototype, name, Object.getOwnPropertyDescriptor(controller.prototype, name)!)
}

options.otherRoutes.forEach(({ method, path }, index) => {
  Object.defineProperty(OtherController.prototype, `other${index}`, { value: () => ({ at: path }) })
  route(OtherController, `other${index}`, method, path)
})
route(PlainController, 'plain', 'GET', 'plain')
route(ProfileController, 'show', 'GET', 'profile')

class AppModule {}

for (const controller of [OtherController, PlainController, ProfileController]) Controller()(controller)
for (const controller of [OtherController, ProfileController]) UseGuards(AuthGuard('jwt'))(controller)
Module({ controllers: [OtherController, PlainController, ProfileController], providers: [JwtStrategy] })(AppModule)

process.once('disconnect', () => process.exit()) // the bench has ended
const app = await NestFactory.create<NestFastifyApplication>(AppModule, new FastifyAdapter(), { logger: false })
await app.listen(0, '127.0.0.1')
process.send!({ port: Number(new URL(await app.getUrl()).port) })
