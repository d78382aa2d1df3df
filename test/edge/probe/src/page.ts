import * as z from 'zod'

/** A schema that another file imports. */
export const Page = z.object({
  from: z.coerce.number().default(0),
  tag: z.union([z.string(), z.array(z.string())]).optional(),
})

export type Page = z.infer<typeof Page>
