/** A worker that judges attestations: bundled by its test, and run in workerd. */
import {
  type AssertionCase,
  type AttestationCase,
  type DamagedBatch,
  unpacked,
  verdictOf,
  verdictOfAssertion,
  verdictsOnDamaged,
} from './attestation-verdicts.ts'

/** One request of the test. */
export type Judged = { cases: AttestationCase[] } | { assertions: AssertionCase[] } | { damaged: DamagedBatch }

export default {
  async fetch(request: Request): Promise<Response> {
    const judged = unpacked(await request.json()) as Judged
    if ('damaged' in judged) return Response.json(await verdictsOnDamaged(judged.damaged))
    const verdicts: string[] = []
    if ('cases' in judged) for (const one of judged.cases) verdicts.push(await verdictOf(one))
    else for (const one of judged.assertions) verdicts.push(await verdictOfAssertion(one))
    return Response.json({ verdicts })
  },
}
