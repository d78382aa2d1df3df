import { Database, On, Webhook } from '@stack/backend'

/** Announces a release of the shop in its catalogue. */
@Webhook({ name: 'codehost', provider: 'codehost', secret: { env: 'CODEHOST_SECRET' } })
export class CodehostWebhook {
  @On('release.published')
  async published(payload: { release: { tag_name: string } }): Promise<void> {
    await Database.$asService().sql`
      insert into releases (tag) values (${payload.release.tag_name}) on conflict (tag) do nothing`
  }
}
