import { z } from 'zod'

export const createOwnerSchema = z.object({ name: z.string().min(1), email: z.email().optional() })

export type CreateOwner = z.infer<typeof createOwnerSchema>
