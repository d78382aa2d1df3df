import { Module } from '@stack/backend'
import { BodiesController, LimitedBodiesController } from './bodies.controller.ts'
import { ColumnsController } from './columns.controller.ts'
import { DefaultController, GatesController, OpenController } from './gates.controller.ts'
import { GuardedController } from './guarded.controller.ts'
import {
  MisshapenReceiver,
  OnceReceiver,
  RotatedReceiver,
  SmsReceiver,
  StandardReceiver,
  TwilioReceiver,
} from './kept.webhook.ts'
import { LimitedController } from './limited.controller.ts'
import { MineController } from './mine.controller.ts'
import { FirstReceiver, SecondReceiver, SignedReceiver, UnsetReceiver } from './receivers.webhook.ts'
import { RequestController } from './request.controller.ts'
import { SchemasController } from './schemas.controller.ts'
import { SecretsController } from './secrets.controller.ts'
import { Hoarder, SqlController } from './sql.controller.ts'
import { ArktypeTexts, ValibotTexts, ZodTexts } from './texts.controller.ts'

@Module({
  controllers: [
    BodiesController,
    ColumnsController,
    DefaultController,
    GatesController,
    LimitedController,
    LimitedBodiesController,
    GuardedController,
    MineController,
    OpenController,
    RequestController,
    SchemasController,
    SecretsController,
    SqlController,
    ArktypeTexts,
    ValibotTexts,
    ZodTexts,
  ],
  providers: [
    Hoarder,
    FirstReceiver,
    SecondReceiver,
    SignedReceiver,
    UnsetReceiver,
    OnceReceiver,
    RotatedReceiver,
    StandardReceiver,
    MisshapenReceiver,
    SmsReceiver,
    TwilioReceiver,
  ],
  auth: { permission: 'probe.enter' },
  cors: { origins: ['https://app.example'], credentials: true, headers: ['authorization', 'content-type', 'x-own'] },
})
export class AppModule {}
