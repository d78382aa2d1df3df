import { Body, Controller, Get, Param, Post } from '@stack/backend'
import { idSchema } from '../shared/id.schema.js'
import { type CreateOwner, createOwnerSchema } from './owner.schema.js'
import { type Owner, OwnersService } from './owners.service.js'

@Controller('owners')
export class OwnersController {
  constructor(private readonly owners: OwnersService) {}

  @Get()
  findAll(): Owner[] {
    return this.owners.findAll()
  }

  @Get(':id')
  findOne(@Param('id', idSchema) id: number): Owner {
    return this.owners.findOne(id)
  }

  @Post('', { status: 201 })
  create(@Body(createOwnerSchema) owner: CreateOwner): Owner {
    return this.owners.create(owner)
  }
}
