"""The codes of languages, scripts and countries that hreflang is made of (G-53), from Debian's iso-codes 4.15."""

from __future__ import annotations

import re

LANGUAGES = frozenset(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
    en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
    ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split()  # noqa: SIM905 - one code a line would be 600 lines
)
"""ISO 639-1."""
COUNTRIES = frozenset(
    """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
    CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO
    FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE
    JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO
    MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW
    PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM
    TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """.split()  # noqa: SIM905 - one code a line would be 600 lines
)
"""ISO 3166-1, alpha-2."""
SCRIPTS = frozenset(
    """
    Adlm Afak Aghb Ahom Arab Aran Armi Armn Avst Bali Bamu Bass Batk Beng Bhks Blis Bopo Brah Brai Bugi Buhd Cakm
    Cans Cari Cham Cher Cirt Copt Cprt Cyrl Cyrs Deva Dsrt Dupl Egyd Egyh Egyp Elba Ethi Geok Geor Glag Goth Gran
    Grek Gujr Guru Hanb Hang Hani Hano Hans Hant Hatr Hebr Hira Hluw Hmng Hrkt Hung Inds Ital Jamo Java Jpan Jurc
    Kali Kana Khar Khmr Khoj Kitl Kits Knda Kore Kpel Kthi Lana Laoo Latf Latg Latn Leke Lepc Limb Lina Linb Lisu
    Loma Lyci Lydi Mahj Mand Mani Marc Maya Mend Merc Mero Mlym Modi Mong Moon Mroo Mtei Mult Mymr Narb Nbat Newa
    Nkgb Nkoo Nshu Ogam Olck Orkh Orya Osge Osma Palm Pauc Perm Phag Phli Phlp Phlv Phnx Piqd Plrd Prti Qaaa Qabx
    Rjng Roro Runr Samr Sara Sarb Saur Sgnw Shaw Shrd Sidd Sind Sinh Sora Sund Sylo Syrc Syre Syrj Syrn Tagb Takr
    Tale Talu Taml Tang Tavt Telu Teng Tfng Tglg Thaa Thai Tibt Tirh Ugar Vaii Visp Wara Wole Xpeo Xsux Yiii Zinh
    Zmth Zsye Zsym Zxxx Zyyy Zzzz
    """.split()  # noqa: SIM905 - one code a line would be 600 lines
)
"""ISO 15924."""
_FORM = re.compile(r"([A-Za-z]{2})(?:-([A-Za-z]{4}))?(?:-([A-Za-z]{2}))?")
_HINTS = {"UK": "the United Kingdom is GB", "EL": "Greece is GR"}


def hreflang_fault(code: str) -> str | None:
    """What is wrong with an hreflang value, in a few words; None if nothing (G-53, G-54). Case does not matter."""
    if code.lower() == "x-default":
        return None
    match = _FORM.fullmatch(code)
    if match is None:
        return (
            "write hyphens, not underscores"
            if _FORM.fullmatch(code.replace("_", "-"))
            else "it is no language-Script-COUNTRY"
        )
    language, script, country = match[1].lower(), (match[2] or "").title(), (match[3] or "").upper()
    if language not in LANGUAGES:
        hint = (
            f"; {language.upper()} is a country, which needs a language before it"
            if language.upper() in COUNTRIES
            else ""
        )
        return f"{match[1]} is no language of ISO 639-1{hint}"
    if script and script not in SCRIPTS:
        return f"{match[2]} is no script of ISO 15924"
    if country and country not in COUNTRIES:
        return f"{match[3]} is no country of ISO 3166-1" + (f": {_HINTS[country]}" if country in _HINTS else "")
    return None


def hreflang_spelling(code: str) -> str:
    """A good hreflang value as it is usually written: `en-GB`, `zh-Hant-TW`, `x-default`."""
    if code.lower() == "x-default":
        return "x-default"
    language, *rest = code.split("-")
    return "-".join([language.lower(), *(part.title() if len(part) == 4 else part.upper() for part in rest)])
