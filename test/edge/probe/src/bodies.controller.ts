import { Body, Controller, Database, Header, Post, Req, User, type UserT } from '@stack/backend'

/** Routes that take a body, leave it to the handler, or ignore it (contract 2.11). */
@Controller('bodies', { auth: false })
export class BodiesController {
  @Post('default')
  byDefault(@Body() body: unknown) {
    return JSON.stringify(body).length
  }

  @Post('small', { maxBodyBytes: 100 })
  small(@Body() body: unknown) {
    return JSON.stringify(body).length
  }

  @Post('streamed')
  async streamed(@Req() request: Request) {
    return (await request.arrayBuffer()).byteLength
  }

  @Post('streamed-small', { maxBodyBytes: 100 })
  async streamedSmall(@Req() request: Request) {
    return (await request.arrayBuffer()).byteLength
  }

  /** Goes on when the body cannot be read. */
  @Post('caught', { maxBodyBytes: 100 })
  async caught(@Req() request: Request) {
    return request.text().then(
      () => 'read',
      (error: Error) => error.message,
    )
  }

  @Post('both')
  async both(@Body() body: unknown, @Req() request: Request) {
    return { body, text: await request.text() }
  }

  @Post('neither')
  neither(@Header('content-length') length: string | undefined) {
    return { length: length ?? null }
  }

  /** Writes to the database, then waits for the rest of the client's body inside the transaction. */
  @Post('waiting', { auth: true })
  async waiting(@Req() request: Request, @User() user: UserT) {
    await Database.sql`insert into notes (text) values (${`${user.id} waits`})`
    await request.text()
  }
}

@Controller('bodies/limited', { auth: true, maxBodyBytes: 200 })
export class LimitedBodiesController {
  @Post('inherited')
  inherited(@Body() body: unknown, @User() user: UserT) {
    return { length: JSON.stringify(body).length, user: user.id }
  }

  @Post('own', { maxBodyBytes: 100 })
  own(@Body() body: unknown, @User() user: UserT) {
    return { length: JSON.stringify(body).length, user: user.id }
  }

  @Post('staff', { auth: { role: 'insider' } })
  staff(@Body() _body: unknown) {
    return 'staff'
  }
}
