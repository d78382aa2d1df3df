import { Injectable } from '@stack/backend'

/** Numbers every created object, of any kind. */
@Injectable()
export class SequenceService {
  private last = 0

  next(): number {
    this.last += 1
    return this.last
  }
}
