import { HttpError, Injectable } from '@stack/backend'
import { AuditService } from '../shared/audit.service.js'
import { SequenceService } from '../shared/sequence.service.js'
import type { CreateOwner } from './owner.schema.js'

export interface Owner extends CreateOwner {
  id: number
}

@Injectable()
export class OwnersService {
  private readonly owners = new Map<number, Owner>()

  constructor(
    private readonly sequence: SequenceService,
    private readonly audit: AuditService,
  ) {}

  findAll(): Owner[] {
    return [...this.owners.values()]
  }

  findOne(id: number): Owner {
    const owner = this.owners.get(id)
    if (!owner) throw new HttpError(404, 'not_found', `there is no owner ${id}`)
    return owner
  }

  create(data: CreateOwner): Owner {
    const owner = { id: this.sequence.next(), ...data }
    this.owners.set(owner.id, owner)
    this.audit.record('owner.created', owner.id)
    return owner
  }
}
