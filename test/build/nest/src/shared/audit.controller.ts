import { Controller, Get, Query } from '@stack/backend'
import { type AuditEntry, AuditService } from './audit.service.js'

@Controller('audit')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  async findAll(@Query('action') action?: string): Promise<AuditEntry[]> {
    return this.audit.find(action)
  }
}
