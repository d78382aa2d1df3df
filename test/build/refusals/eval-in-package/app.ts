import { Controller, Get, Module } from '@stack/backend'
import { parse } from 'loose-json'

@Controller('/settings')
export class SettingsController {
  @Get()
  show(): unknown {
    return parse('{}')
  }
}

@Module({ controllers: [SettingsController] })
export class AppModule {}
// file: node_modules/loose-json/package.json
{ "name": "loose-json", "main": "index.js" }
// file: node_modules/loose-json/index.js
export const parse = (text) => eval('(' + text + ')')
