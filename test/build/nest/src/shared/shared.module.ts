import { Module } from '@stack/backend'
import { AuditController } from './audit.controller.js'
import { AuditService } from './audit.service.js'
import { ClockService } from './clock.service.js'
import { SequenceService } from './sequence.service.js'

@Module({
  controllers: [AuditController],
  providers: [AuditService, ClockService, SequenceService],
  exports: [AuditService, SequenceService],
})
export class SharedModule {}
