"""The first page: begin with your own data or an example, or continue an earlier sitting."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError, WrongUse
from shoal.option_names import as_typed
from shoal.studio import queries
from shoal.studio.first_recipe import begin_with
from shoal.studio.page_words import page_words
from shoal.studio.state import Studio
from shoal.studio.walk import templates


@dataclass(slots=True)
class Home:
    """The first page as one browser sees it."""

    studio: Studio
    notice: str = ""
    asked: str = ""
    answers: int = 0

    def html(self) -> str:
        """The page as it is now."""
        sittings = [{"one": one, "runs": len(self.studio.runs(one))} for one in self.studio.sittings.all()]
        page = templates().get_template("first.html.j2")
        return page.render(home=self, sittings=sittings, remote=self.studio.remote, upload=self.studio.upload)

    async def act(self, act: Mapping[str, Any]) -> str:
        """Do what somebody asked for; returns the address to go to, empty to stay."""
        self.notice = ""
        self.answers += 1
        try:
            with as_typed():
                return await self._done(str(act.get("do")), act)
        except ShoalError as error:
            self.notice = page_words(" ".join(str(error).split()))
        return ""

    async def _done(self, name: str, act: Mapping[str, Any]) -> str:
        match name:
            case "uploaded":
                return await self._begin(str(act["value"]["path"]), str(act["value"]["sitting"]))
            case "path":
                return await self._path(str(act["form"].get("path", "")).strip())
            case "example":
                sitting = self.studio.sittings.begin()
                path = await self.studio.queries.ask(queries.example, act["data"]["name"], str(sitting.files))
                return await self._begin(path, sitting.key)
            case "delete":
                key = str(act["data"]["key"])
                if self.asked != key:
                    self.asked = key
                    return ""
                self.studio.jobs.forget(self.studio.sittings.find(key))
                self.studio.sittings.delete(key)
            case "keep":
                self.asked = ""
            case "refused":
                self.notice = str(act.get("value", ""))
            case "open":
                return str(act.get("place", ""))
        return ""

    async def _path(self, path: str) -> str:
        if self.studio.remote:
            raise WrongUse("Files on this machine are not opened for others: upload the file instead.")
        if not path:
            raise WrongUse("Type the path of a file, such as /home/me/people.csv.")
        return await self._begin(str(Path(path).expanduser().absolute()), self.studio.sittings.begin().key)

    async def _begin(self, path: str, key: str) -> str:
        sitting = self.studio.sittings.find(key)
        try:
            self.studio.refuse_foreign(sitting, path)
            await begin_with(self.studio, sitting, path)
        except ShoalError:
            self.studio.sittings.delete(key)
            raise
        return f"/s/{sitting.key}/data"


def lost(sentence: str) -> str:
    """The page for an address that does not exist."""
    return templates().get_template("lost.html.j2").render(sentence=sentence)
