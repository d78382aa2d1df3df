import {
  Body,
  Controller,
  Database,
  Delete,
  Get,
  HttpError,
  Module,
  OptionalUser,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
  User,
  type UserT,
} from '@stack/backend'

/** Handlers that read the device of their caller. */
@Controller('mine', { auth: true })
export class MineController {
  @Get()
  read(@User() { device }: UserT) {
    return { device }
  }

  @Get('paged')
  paged(@User() { device }: UserT, @Query('q') q: string | undefined) {
    return { device, q }
  }

  @Get('other')
  other(@User() { device }: UserT) {
    return { device }
  }

  @Post()
  post(@User() { device }: UserT, @Body() body: unknown) {
    return { device, body }
  }

  @Put()
  put(@User() { device }: UserT, @Body() body: unknown) {
    return { device, body }
  }

  @Patch('raw')
  async raw(@User() { device }: UserT, @Req() request: Request) {
    return { device, length: (await request.arrayBuffer()).byteLength }
  }

  @Post('handled')
  async handle(@User() { device }: UserT, @Body() { text }: { text: string }) {
    await Database.sql`insert into handled (text) values (${text})`
    return { device }
  }

  @Post('large', { maxBodyBytes: 3_000_000 })
  async large(@User() { device }: UserT, @Req() request: Request) {
    return { device, length: (await request.arrayBuffer()).byteLength }
  }

  @Delete(':id')
  remove(@User() { device }: UserT, @Param('id') id: string) {
    return { device, id }
  }
}

@Controller('open', { auth: false })
export class OpenController {
  @Get()
  read(@OptionalUser() user: UserT | null) {
    return { user: user && { role: user.role, device: user.device } }
  }

  @Get('plain')
  plain() {
    return 'plain'
  }
}

@Controller('gated', { auth: { device: true } })
export class GatedController {
  @Get()
  enter() {
    return 'entered'
  }

  @Post('once', { auth: { device: 'once' } })
  async once(
    @User() { device }: UserT,
    @Body() { text, fails, waits }: { text: string; fails?: boolean; waits?: number },
  ) {
    await Database.sql`insert into handled (text) values (${text})`
    if (waits) await Database.sql`select pg_sleep(${waits})`
    if (fails) throw new HttpError(422, 'failed', 'the handler was asked to fail')
    return { device: device?.id }
  }

  @Post('nothing', { auth: { device: 'once' } })
  nothing() {
    return 'done'
  }
}

@Module({ controllers: [MineController, OpenController, GatedController] })
export class AppModule {}
