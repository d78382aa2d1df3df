/** The workers that stand beside those of the stack: bundled from `deploy/workers`, because workerd runs no TypeScript. */
import path from 'node:path'
import esbuild from 'esbuild'

export interface WorkerSources {
  front: string
  bucket: string
  rateLimit: string
  s3: string
}

const folder = path.resolve(import.meta.dirname, '../workers')

export async function workerSources(): Promise<WorkerSources> {
  const [front, bucket, rateLimit, s3] = await Promise.all(['front', 'bucket', 'rate-limit', 's3'].map(bundled))
  return { front: front!, bucket: bucket!, rateLimit: rateLimit!, s3: s3! }
}

async function bundled(name: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(folder, `${name}.ts`)],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    write: false,
    external: ['cloudflare:*'],
    logLevel: 'silent',
  })
  return outputFiles[0]!.text
}
