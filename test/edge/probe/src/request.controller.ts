import {
  Auth,
  Body,
  Client,
  Controller,
  Database,
  Delete,
  Get,
  Header,
  HttpError,
  type HttpErrorDetails,
  Log,
  Param,
  Post,
  Put,
  Query,
  Req,
  RequestId,
  RoleNotDefined,
  Secrets,
  type StackRoleName,
  Storage,
  TraceId,
} from '@stack/backend'

function bytes(text: string) {
  return new TextEncoder().encode(text).length
}

@Controller('request', { auth: false })
export class RequestController {
  private served = 0

  @Get('injected/:first/:second')
  injected(
    @Param('second') second: string,
    @Param('first') first: string,
    @Query('page') page: string | undefined,
    @Header('X-Probe') header: string | undefined,
    @Req() request: Request,
    @RequestId() id: string,
    @TraceId() trace: string,
    @Client() client: unknown,
  ) {
    return { first, second, page, header, method: request.method, id, trace, client: client === undefined }
  }

  @Get('injected/literal/:only')
  literal(@Param('only') only: string) {
    return { only }
  }

  @Post('echo', { status: 202 })
  echo(@Body() body: unknown) {
    return body
  }

  @Get('nothing')
  nothing() {}

  @Get('null')
  nothingButNull() {
    return null
  }

  @Get('response')
  response() {
    return new Response('as it is', { status: 418, headers: { 'x-own': 'yes', 'content-type': 'text/plain' } })
  }

  @Get('cached')
  cached() {
    return new Response('for all', { headers: { 'cache-control': 'public, max-age=60', vary: 'accept' } })
  }

  @Put('roles/:user/:role')
  async promote(@Param('user') user: string, @Param('role') role: StackRoleName) {
    await Auth.assignRole(user, role)
    await Auth.assignRole(user, role)
    return Auth.rolesOf(user)
  }

  @Delete('roles/:user/:role')
  async demote(@Param('user') user: string, @Param('role') role: StackRoleName) {
    try {
      await Auth.revokeRole(user, role)
    } catch (error) {
      if (error instanceof RoleNotDefined) return { undefined: error.role }
      throw error
    }
    return Auth.rolesOf(user)
  }

  @Get('stored')
  async stored() {
    await Storage.put('notes/a b.txt', 'stored', { httpMetadata: { contentType: 'text/plain' } })
    const [object, missing] = await Promise.all([Storage.get('notes/a b.txt'), Storage.get('nothing')])
    const { objects } = await Storage.list({ prefix: 'notes/' })
    await Storage.delete('notes/a b.txt')
    return {
      text: await object!.text(),
      type: object!.httpMetadata?.contentType,
      missing,
      listed: objects.map(({ key, size }) => [key, size]),
      left: (await Storage.head('notes/a b.txt')) !== null,
    }
  }

  @Get('refusal')
  refusal() {
    throw new HttpError(409, 'taken', 'this is taken', { fields: [{ path: 'name', reason: 'taken' }] })
  }

  @Get('throw')
  throwing() {
    throw new Error('a secret detail')
  }

  @Get('unsendable/:what')
  unsendable(@Param('what') what: string) {
    const details: Record<string, HttpErrorDetails> = {
      header: { headers: { 'x-a': '1\r\n2' } },
      body: { body: { big: 1n } },
      own: { headers: { 'X-Request-Id': 'evil', 'content-type': 'text/html', 'cache-control': 'public' } },
    }
    if (what === 'function') return () => 1
    if (what === 'nothing') throw Object.create(null)
    throw new HttpError(400, 'x', 'y', details[what])
  }

  @Get('lost')
  lost() {
    Promise.resolve().then(() => {
      throw new Error('nobody listens')
    })
    return 'ok'
  }

  @Get('log-error')
  logError() {
    Log.error('it failed', { error: new TypeError('the reason'), big: 1n, level: 'info', request_id: 'req_other' })
  }

  @Get('secret')
  secret() {
    return Secrets.get('PROBE_SECRET').length + bytes(Secrets.get('PROBE_SECRET'))
  }

  @Get('unset')
  unset() {
    return Secrets.get('NOT_SET')
  }

  @Get('log')
  log() {
    Log.warn('said by a handler', { line: 'one\ntwo' })
  }

  /** One instance serves every request. */
  @Get('served')
  count() {
    this.served++
    return this.served
  }

  @Get('asleep')
  async asleep() {
    await Database.sql`select 1`
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 9_000)
    await promise
  }

  @Get('large')
  large() {
    return 'x'.repeat(1_048_576)
  }

  @Get('later')
  later() {
    const { promise, resolve } = Promise.withResolvers<void>()
    setTimeout(resolve, 5)
    return promise.then(() => Database.sql`select 1 as one`)
  }
}
