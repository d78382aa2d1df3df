import { HttpError, Injectable } from '@stack/backend'
import { OwnersService } from '../owners/owners.service.js'
import { AuditService } from '../shared/audit.service.js'
import { SequenceService } from '../shared/sequence.service.js'
import type { CreateCat, UpdateCat } from './cat.schemas.js'

export interface Cat extends CreateCat {
  id: number
  source: string
  owner?: string
}

@Injectable()
export class CatsService {
  private readonly cats = new Map<number, Cat>()

  constructor(
    private readonly sequence: SequenceService,
    private readonly audit: AuditService,
    private readonly owners: OwnersService,
  ) {}

  findAll(limit: number, breed?: string): Cat[] {
    return [...this.cats.values()].filter((cat) => breed === undefined || cat.breed === breed).slice(0, limit)
  }

  findOne(id: number): Cat {
    const cat = this.cats.get(id)
    if (!cat) throw new HttpError(404, 'not_found', `there is no cat ${id}`)
    return cat
  }

  create(data: CreateCat, source: string): Cat {
    const cat = { id: this.sequence.next(), source, ...data }
    this.cats.set(cat.id, cat)
    this.audit.record('cat.created', cat.id)
    return cat
  }

  update(id: number, data: UpdateCat): Cat {
    return Object.assign(this.findOne(id), data)
  }

  adopt(id: number, owner: number): Cat {
    const cat = this.findOne(id)
    cat.owner = this.owners.findOne(owner).name
    this.audit.record('cat.adopted', id)
    return cat
  }

  remove(id: number): void {
    this.cats.delete(this.findOne(id).id)
  }
}
