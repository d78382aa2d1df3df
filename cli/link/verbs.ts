/** The verb that ties a checkout to an environment and its clients. */
import { Option } from 'commander'
import { type Group, jsonFlag, targetFlags } from '../shared/verb.ts'
import type { LinkFlags } from './link.ts'

export const link: Group = {
  summaries: {},
  verbs: [
    {
      name: 'link',
      positionals: { '[ref]': 'the ref of an environment (default: the chosen one). With --verify-android, the SHA-1' },
      summary: 'record an environment, and write the public clients of its providers to stack/oauth',
      options: [
        ...targetFlags(),
        new Option('--name <name>', 'the name of a new environment (default: its ref)'),
        new Option('--url <url>', 'its address (default: https://<ref>.<domain>, where the others have one domain)'),
        new Option(
          '--verify-android <application_id>',
          'check an Android build against stack/oauth/android.json, and send nothing',
        ),
        jsonFlag('accepted for scripts: the result is always JSON on stdout'),
      ],
      examples: [
        'stack link k3v9x0tqm --name staging --url https://staging.shop.example',
        'stack link --env staging',
        'stack link --verify-android com.example.shop da39a3ee5e6b4b0d3255bfef95601890afd80709',
      ],
      async run(flags: LinkFlags, ref) {
        const { project, verifyAndroid } = flags
        if (verifyAndroid === undefined) return (await import('./link.ts')).runLink(flags, ref)
        return (await import('./verify-android.ts')).runVerifyAndroid(project, verifyAndroid, ref)
      },
    },
  ],
}
