/** Where a served stack keeps the objects of `Storage`: a folder, or a bucket that speaks S3. */
import path from 'node:path'

export type StorageTarget =
  | { kind: 'folder'; directory: string }
  | { kind: 's3'; bucketUrl: string; prefix: string; region: string; credentials: Record<string, string> }

/** The value of `--storage`, or what belongs to it in the environment, cannot be used. */
export class StorageFault extends Error {
  override name = 'StorageFault'
}

/**
 * @param text a folder, or `s3://bucket/prefix`.
 * @param base the folder that a relative path starts from.
 * @param environment names the keys of S3 as its own tools do, and in `AWS_ENDPOINT_URL_S3` a server other than Amazon's.
 * @throws StorageFault
 */
export function storageTarget(text: string, base: string, environment: NodeJS.ProcessEnv): StorageTarget {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'folder', directory: path.resolve(base, text) }
  const [, bucket, rest = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? []
  if (bucket === undefined) throw new StorageFault(`--storage ${text} is neither a folder nor s3://bucket/prefix`)
  const missing = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'].filter((name) => !environment[name])
  if (missing.length > 0) throw new StorageFault(`--storage ${text} needs ${missing.join(' and ')} in the environment`)
  const endpoint = environment['AWS_ENDPOINT_URL_S3'] ?? environment['AWS_ENDPOINT_URL']
  const region = environment['AWS_REGION'] ?? environment['AWS_DEFAULT_REGION'] ?? (endpoint ? 'auto' : 'us-east-1')
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']
  const credentials = Object.fromEntries(
    names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  )
  const prefix = rest === '' || rest.endsWith('/') ? rest : `${rest}/`
  return { kind: 's3', bucketUrl: bucketUrl(bucket, region, endpoint), prefix, region, credentials }
}

function bucketUrl(bucket: string, region: string, endpoint: string | undefined): string {
  if (endpoint !== undefined) {
    if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
      throw new StorageFault(`AWS_ENDPOINT_URL_S3 is no URL: ${endpoint}`)
    return `${endpoint.replace(/\/+$/, '')}/${bucket}`
  }
  // the certificate of Amazon covers one label before its name
  return bucket.includes('.')
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
}
