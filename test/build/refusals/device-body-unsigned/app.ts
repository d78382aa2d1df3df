import { Controller, Module, Post, Req } from '@stack/backend'

@Controller('/scans', { auth: { device: true } })
export class ScansController {
  @Post('', { maxBodyBytes: 5_000_000 })
  async upload(@Req() request: Request) {
    return { bytes: (await request.arrayBuffer()).byteLength }
  }
}

@Module({ controllers: [ScansController] })
export class AppModule {}
