import { Controller, Injectable, Module, Post } from '@stack/backend'

interface Outbox {
  send(to: string): void
}

@Injectable()
export class Mail implements Outbox {
  send(_to: string): void {}
}

@Controller('/mail')
export class MailController {
  constructor(private readonly outbox: Mail) {}

  @Post()
  send(): void {
    this.outbox.send('staff@example.com')
  }
}

@Module({ controllers: [MailController], providers: [Mail] })
export class AppModule {}
