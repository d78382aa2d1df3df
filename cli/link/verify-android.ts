/**
 * `stack link --verify-android <application_id> <sha1>`: whether an Android build is the app that the snapshot's clients are registered
 * for. A build calls it, so it reads the snapshot alone and sends nothing.
 */
import { Failure } from '../shared/failure.ts'
import { locateProject } from '../shared/project.ts'
import { readSnapshot, type Snapshot, snapshotPath } from './snapshot.ts'

export function runVerifyAndroid(project: string | undefined, applicationId: string, sha1: string | undefined): void {
  const certificate = sha1 === undefined ? undefined : digestOf(sha1)
  if (certificate === undefined) {
    const given = sha1 === undefined ? 'is missing' : `is not ${JSON.stringify(sha1)}`
    throw new Failure(
      'usage',
      `the SHA-1 of the signing certificate ${given}: give 40 hexadecimal digits, also with colons, after the application id`,
    )
  }
  const { root } = locateProject(project)
  const faults = checkAndroid(snapshotIn(root), applicationId, certificate)
  if (faults.length > 0) throw new Failure('refused', faults.join('\n'))
}

/** @returns 40 lowercase digits, as the records have them, from what `keytool` and Gradle print. */
function digestOf(text: string): string | undefined {
  const digits = text.replaceAll(':', '').toLowerCase()
  return /^[0-9a-f]{40}$/.test(digits) ? digits : undefined
}

function snapshotIn(root: string): Snapshot {
  const file = snapshotPath('android')
  let reason = `there is no ${file}`
  try {
    const snapshot = readSnapshot(root, 'android')
    if (snapshot) return snapshot
  } catch (error) {
    reason = (error as Error).message
  }
  throw new Failure(
    'refused',
    `${reason}: name the target as "oauth.android" in stack/project.json, and run \`stack link\``,
  )
}

function checkAndroid(
  { application_key, variant, providers }: Snapshot,
  applicationId: string,
  sha1: string,
): string[] {
  const faults: string[] = []
  for (const [provider, client] of Object.entries(providers)) {
    const { client_key: key, package_name: name, signing_certificate_sha1: registered } = client
    const which = `the client "${key}" of ${provider}`
    if (name !== applicationId) faults.push(`this build is ${applicationId}, and ${which} is registered for ${name}`)
    if (registered !== undefined && registered !== sha1)
      faults.push(`this build is signed by ${sha1}, and ${which} is registered for ${registered}`)
  }
  if (faults.length === 0) return []
  return [
    ...faults,
    `${snapshotPath('android')} is for the application "${application_key}", variant "${variant}". Select the variant of this build as "oauth.android" in stack/project.json, or register a client for it (stack auth providers config set), and run \`stack link\``,
  ]
}
