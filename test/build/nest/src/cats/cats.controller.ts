import { Body, Controller, Delete, Get, Header, Param, Patch, Post, Put, Query } from '@stack/backend'
import { idSchema } from '../shared/id.schema.js'
import {
  type AdoptCat,
  adoptCatSchema,
  type CreateCat,
  createCatSchema,
  limitSchema,
  type UpdateCat,
  updateCatSchema,
} from './cat.schemas.js'
import { type Cat, CatsService } from './cats.service.js'

@Controller('cats')
export class CatsController {
  constructor(private readonly cats: CatsService) {}

  @Get()
  findAll(@Query('limit', limitSchema) limit: number, @Query('breed') breed?: string): Cat[] {
    return this.cats.findAll(limit, breed)
  }

  @Get(':id')
  async findOne(@Param('id', idSchema) id: number): Promise<Cat> {
    return this.cats.findOne(id)
  }

  @Post('', { status: 201 })
  create(@Body(createCatSchema) cat: CreateCat, @Header('X-Source') source?: string): Cat {
    return this.cats.create(cat, source ?? 'unknown')
  }

  @Put(':id')
  replace(@Param('id', idSchema) id: number, @Body(createCatSchema) cat: CreateCat): Cat {
    return this.cats.update(id, cat)
  }

  @Patch(':id')
  update(@Param('id', idSchema) id: number, @Body(updateCatSchema) cat: UpdateCat): Cat {
    return this.cats.update(id, cat)
  }

  @Post(':id/adoption', { status: 202 })
  adopt(@Param('id', idSchema) id: number, @Body(adoptCatSchema) { owner }: AdoptCat): Cat {
    return this.cats.adopt(id, owner)
  }

  @Delete(':id')
  remove(@Param('id', idSchema) id: number): void {
    this.cats.remove(id)
  }
}
