import { Injectable } from '@stack/backend'
import { ClockService } from './clock.service.js'

export interface AuditEntry {
  at: string
  action: string
  id: number
}

@Injectable()
export class AuditService {
  private readonly entries: AuditEntry[] = []

  constructor(private readonly clock: ClockService) {}

  record(action: string, id: number): void {
    this.entries.push({ at: this.clock.now(), action, id })
  }

  find(action?: string): AuditEntry[] {
    return this.entries.filter((entry) => action === undefined || entry.action === action)
  }
}
