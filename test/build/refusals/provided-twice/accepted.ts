import { Module } from '@stack/backend'
import { MailModule } from './mail.module'

@Module({ imports: [MailModule] })
export class AppModule {}
// file: src/mail.module.ts
import { Module } from '@stack/backend'
import { Mail } from './mail'

@Module({ providers: [Mail] })
export class MailModule {}
// file: src/mail.ts
import { Injectable } from '@stack/backend'

@Injectable()
export class Mail {}
