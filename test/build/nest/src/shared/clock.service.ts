import { Injectable } from '@stack/backend'

@Injectable()
export class ClockService {
  now(): string {
    return new Date().toISOString()
  }
}
