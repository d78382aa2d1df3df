import { z } from 'zod'

/** In the place of `ParseIntPipe`. */
export const idSchema = z.coerce.number().int()
