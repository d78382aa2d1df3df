import { z } from 'zod'

export const createCatSchema = z.object({
  name: z.string().min(1),
  age: z.number().int().min(0),
  breed: z.string().default('unknown'),
})
export type CreateCat = z.infer<typeof createCatSchema>

export const updateCatSchema = z.object({ name: z.string().min(1), age: z.number().int().min(0) }).partial()
export type UpdateCat = z.infer<typeof updateCatSchema>

export const adoptCatSchema = z.object({ owner: z.number().int() })
export type AdoptCat = z.infer<typeof adoptCatSchema>

export const limitSchema = z.coerce.number().int().min(1).default(10)
