import { Module } from '@stack/backend'
import { SharedModule } from '../shared/shared.module.js'
import { OwnersController } from './owners.controller.js'
import { OwnersService } from './owners.service.js'

@Module({
  imports: [SharedModule],
  controllers: [OwnersController],
  providers: [OwnersService],
  exports: [OwnersService],
})
export class OwnersModule {}
