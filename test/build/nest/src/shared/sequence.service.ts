import { Injectable } from '@stack/backend'

/** Numbers what is created, whatever it is. */
@Injectable()
export class SequenceService {
  private last = 0

  next(): number {
    this.last += 1
    return this.last
  }
}
